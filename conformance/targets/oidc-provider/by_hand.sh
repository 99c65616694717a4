# Findings of RESULTS.md in oidc-provider, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

jar=$work/jar            # cookies of alice's browser
place='' page='' code='' # the browser's URL, its page, and the last code
verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk # of RFC 7636, appendix B
s256=(-d code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM -d code_challenge_method=S256)
one=https://one.example/ two=https://two.example/ # the APIs of target.json
# Clients have their names in target.json, which has ids and secrets.
var() { jq -r ".vars.$1 // empty" target.json; }
id() { var "clients.$1.id"; }
uri() { var "clients.$1.redirect_uri"; }
basic() { echo "$(id "$1"):$(var "clients.$1.secret")"; }

of() { jq -cr "$1" <<< "$body"; } # prints that part of the last JSON response

# go URL [option of curl…]: opens the URL and follows redirects up to a page or a client.
go() {
  local from=$1 options=("${@:2}") to
  place=$1
  while [[ $place == "$base"/* ]]; do
    page=$(curl --silent --max-time 20 -b "$jar" -c "$jar" -D "$work/seen" "${options[@]}" "$place")
    to=$(tr -d '\r' < "$work/seen" | sed -n 's/^location: //ip')
    [[ -z $to ]] && break
    options=()
    [[ $to == /* ]] && to=$base$to
    place=$to
  done
  echo "> the browser goes to ${from#"$base"}, and comes to ${place:0:100}"
}

# consent_page ID URI [option of curl…]: sends an authorization request of a client and opens alice's consent page.
consent_page() {
  go "$base/auth" -G -d response_type=code -d "client_id=$1" --data-urlencode "redirect_uri=$2" -d state=abc "${@:3}"
}

# allow ID URI [option of curl…]: the same, and alice consents.
allow() {
  consent_page "$@"
  [[ $place == "$base"/interaction/* ]] && go "$place/confirm" -d ''
  code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$place")
}

# authorize CLIENT [option of curl…]: the same for a client of the target.
authorize() { allow "$(id "$1")" "$(uri "$1")" -d scope=openid "${@:2}"; }

# redemption CLIENT: sets form to its token request for the code.
redemption() {
  form=(-d grant_type=authorization_code -d "code=$code" --data-urlencode "redirect_uri=$(uri "$1")"
    -d "code_verifier=$verifier" "${@:2}")
  if [[ -n $(var "clients.$1.secret") ]]; then form+=(-u "$(basic "$1")"); else form+=(-d "client_id=$(id "$1")"); fi
}

# tokens CLIENT [option of curl…]: sets access and refresh to alice's tokens for it.
tokens() {
  authorize "$1" "${s256[@]}" "${@:2}"
  redemption "$@"
  request "$base/token" "${form[@]}"
  access=$(of .access_token) refresh=$(of .refresh_token)
}

# introspect TOKEN [option of curl…]: introspects it as the confidential client, unless the options authenticate another.
introspect() {
  (($# > 1)) || set -- "$1" -u "$(basic confidential)"
  request "$base/token/introspection" -d "token=$1" "${@:2}"
}

register() { request "$base/reg" -H 'content-type: application/json' -d "$1"; }

# jwt ALG CLAIMS [JWK [HEADER]]: prints a JWT signed with the key, or with an unknown one; unsigned if ALG is none.
jwt() {
  node -e 'const { createPrivateKey, generateKeyPairSync, sign } = require("node:crypto");
    const [alg, claims, jwk, header = "{}"] = process.argv.slice(1);
    const key = jwk ? createPrivateKey({ key: JSON.parse(jwk), format: "jwk" })
      : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const said = [JSON.stringify({ alg, ...JSON.parse(header) }), claims].map((part) => Buffer.from(part).toString("base64url")).join(".");
    const signature = alg === "none" ? "" : sign("sha256", said, { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
    console.log(`${said}.${signature}`);' "$@"
}

# eight URL [option of curl…]: sends eight concurrent requests; with odd=ID every second one of the public client uses that client_id.
eight() {
  local all=() n
  rm -f "$work"/answer*
  for n in {1..8}; do
    ((n > 1)) && all+=(--next)
    all+=(--silent --include --max-time 20 --output "$work/answer$n")
    if ((n % 2)); then all+=("${@/#client_id=app/client_id=${odd:-app}}"); else all+=("$@"); fi
  done
  echo "> eight at once: curl ${*@Q}"
  curl --parallel --parallel-immediate "${all[@]}" 2> "$work/error"
}

# granted NAME: prints its different values in the eight responses.
granted() { sed -n "s/.*[?&\"]$1[=\":]*\([^&\"]*\).*/\1/p" "$work"/answer* | sort -u; }

# race HOW NAME SENT [VECTOR…]: checks how many values of NAME eight concurrent requests return. Overlap is chance: three tries.
race() {
  local how=$1 name=$2 sent=$3 tries=3 count
  [[ $how == '> 1' ]] || { tries=1; set -- "${@:1:3}"; } # the vectors fail only if there is more than one
  while ((tries-- > 0)); do
    $sent
    count=$(granted "$name" | wc -l)
    echo "< $count different of $name"
    ((count $how)) && break
  done
  ((count $how))
  check "$sent, $name: $how" "${@:4}"
}
code_of() { authorize "$1" "${s256[@]}" && redemption "$1" && eight "$base/token" "${form[@]}"; }
code_and_thief() { odd=app-two code_of public; }
refresh_of() { tokens "$1" && eight "$base/token" -d grant_type=refresh_token -d "refresh_token=$refresh" "${@:2}"; }
consent_form() {
  consent_page "$(id asked)" "$(uri asked)" -d scope=openid -d prompt=consent "${s256[@]}"
  eight "$place/confirm" -d '' -b "$jar" -L --max-redirs 1
}
assertion() {
  local now=$EPOCHSECONDS
  eight "$base/token" -d grant_type=client_credentials \
    -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer -d client_assertion="$(jwt ES256 \
      '{"iss":"assertion","sub":"assertion","aud":"'"$base"'","jti":"'"$now$RANDOM"'","iat":'"$now"',"exp":'$((now + 60))'}' \
      "$(var clients.assertion.private)")"
}

# races HOW: uses each single-use value eight times concurrently.
races() {
  local early
  race "$1" access_token "code_of public" code/eight-at-once code/eight-at-once-are-answered
  early=$(granted access_token | head -1)
  request "$base/token" "${form[@]}"
  expect 400 '"error":"invalid_grant"'
  introspect "$early"
  expect 200 '"active":false' # a use after the mark revokes the grant
  race "$1" access_token "code_of confidential" code/eight-at-once-of-a-confidential-client
  race "$1" access_token code_and_thief code/two-clients-at-once
  ! grep --quiet '^HTTP.* 200' "$work"/answer[1357]
  check 'the other client has no tokens'
  race "$1" refresh_token "refresh_of public -d client_id=app" refresh/eight-at-once
  race "$1" refresh_token "refresh_of confidential -u $(basic confidential)" refresh/eight-at-once-of-a-confidential-client
}

rows() {
  finding 'plain `http` redirect URIs are registered'
  while read -r vector uris; do
    register '{"redirect_uris":'"$uris"',"token_endpoint_auth_method":"none"}'
    [[ $status == 201 && $(of .redirect_uris) == "$uris" ]]
    check "201, $uris" "$vector"
  done << 'END'
registration/uri-plain-http ["http://client.example/cb"]
registration/uri-plain-http-beside-good ["https://client.example/cb","http://client.example/cb"]
registration/uri-loopback-as-prefix ["http://127.0.0.1.evil.example/cb"]
registration/uri-localhost-as-prefix ["http://localhost.evil.example/cb"]
registration/uri-loopback-as-user ["http://127.0.0.1@evil.example/cb"]
clients/redirect-uri-without-tls ["http://conformance.example/cb"]
END
  allow "$(of .client_id)" http://conformance.example/cb -d scope=openid "${s256[@]}"
  [[ $place == "http://conformance.example/cb?code="* ]]
  check 'the code goes there'
  register '{"redirect_uris":["http://client.example/cb"],"grant_types":["implicit"],"response_types":["id_token"]}'
  expect 400 'invalid_redirect_uri|invalid_client_metadata' # the implicit flow requires https

  finding 'a refused refresh consumes the refresh token'
  tokens public -d "resource=$one"
  request "$base/token" -d grant_type=refresh_token -d "refresh_token=$refresh" -d client_id=app -d "resource=$two"
  expect 400 '"error":"invalid_target"'
  introspect "$access"
  expect 200 '"active":true'
  request "$base/token" -d grant_type=refresh_token -d "refresh_token=$refresh" -d client_id=app -d "resource=$one"
  expect 400 '"error":"invalid_grant"' resource_indicators/refused-refresh-spends-nothing
  introspect "$access"
  expect 200 '"active":false'

  finding "an unauthenticated GET is a server error"
  request "$base/device/auth?client_id=device&scope=openid"
  expect 500 'Internal Server Error' device/get
  request "$base/device/x"
  expect 500 'Internal Server Error'
  (($(grep -c 'persist can only be called on previously persisted Sessions' "$work/server.log") == 2))
  check 'both are in the log'
  request "$base/device/x/y"
  expect 404 ''
  alive; check 'the server goes on'

  finding '`invalid_request` for `unauthorized_client`'
  request "$base/token" -d grant_type=client_credentials -d client_id=app
  expect 400 '"error":"invalid_request"' client_credentials/public-client
  request "$base/token" -u "$(basic code_only)" -d grant_type=client_credentials
  expect 400 '"error":"invalid_request"' client_credentials/not-registered-for-it
  request "$base/token" -u "$(basic service)" -d grant_type=authorization_code -d code=x -d redirect_uri=https://x.example/
  expect 400 '"error":"invalid_request"' client_credentials/other-grants
  request "$base/device/auth" -d client_id=app -d scope=openid
  expect 400 '"error":"invalid_request"' device/not-allowed-the-grant
  consent_page "$(id no_code)" "$(uri no_code)" "${s256[@]}"
  [[ $place == "$(uri no_code)?error=invalid_request&"* ]]
  check 'error=invalid_request' authorize/client-without-code-grant

  finding 'every client may ask about every token'
  tokens confidential
  register '{"redirect_uris":["https://foreign.example/cb"],"token_endpoint_auth_method":"client_secret_basic"}'
  introspect "$access" -u "$(of .client_id):$(of .client_secret)"
  expect 200 '"active":true,"sub":"alice".*"scope":"openid"' introspection/of-a-stranger
  introspect "$refresh" -u "$(basic other)"
  expect 200 '"active":true,"sub":"alice".*"scope":"openid"' introspection/refresh-token-of-another

  finding 'JWTs cannot be asked about'
  local claims='{"iss":"'"$base"'","sub":"alice","client_id":"web","exp":'$((EPOCHSECONDS + 3600))',"scope":"openid"}'
  introspect "$(jwt none "$claims")"
  expect 400 '"error":"unsupported_token_type"' introspection/self-made-unsigned
  introspect "$(jwt ES256 "$claims")"
  expect 400 '"error":"unsupported_token_type"' introspection/self-made
  request "$base/token" -u "$(basic jwt)" -d grant_type=client_credentials # one that it issued
  introspect "$(of .access_token)" -u "$(basic jwt)"
  expect 400 '"error":"unsupported_token_type"'

  finding '`redirect_uri` may be left out of the token request'
  authorize confidential
  request "$base/token" -u "$(basic confidential)" -d grant_type=authorization_code -d "code=$code"
  expect 200 '"access_token":' code/redirect-uri-left-out
  authorize two_uris "${s256[@]}" # with two, no default is used
  request "$base/token" -d client_id=two-uris -d grant_type=authorization_code -d "code=$code" -d "code_verifier=$verifier"
  expect 400 '"error":"invalid_request"'

  finding 'a missing or unknown scope returns `access_denied`'
  consent_page "$(id public)" "$(uri public)" "${s256[@]}"
  [[ $place == "$(uri public)?error=access_denied&"* ]]
  check 'error=access_denied, without a consent page' scope/left-out
  consent_page "$(id public)" "$(uri public)" "${s256[@]}" -d scope=no-such-scope
  [[ $place == "$(uri public)?error=access_denied&"* ]]
  check 'error=access_denied, for an unknown scope' scope/unknown

  finding 'no `Pragma`'
  tokens public
  expect 200 'cache-control: no-store'
  expect_no '[Pp]ragma' token_endpoint/granted-not-cached-by-old-caches

  finding 'the authorization endpoint takes no POST'
  request "$base/auth" -d response_type=code -d scope=openid -d prompt=none -d "client_id=$(id confidential)" \
    --data-urlencode "redirect_uri=$(uri confidential)"
  expect 404 '' openid_request/none-post

  finding "a public client gets no error for another client's token"
  request "$base/token/revocation" -d "token=$refresh" -d client_id=app-two
  expect 200 '' revocation/of-another-client-is-refused
  introspect "$refresh"
  expect 200 '"active":true'

  finding 'no `slow_down`'
  request "$base/device/auth" -d client_id=device -d scope=openid
  device=$(of .device_code)
  for vector in '' device/slow-down; do
    request "$base/token" -d grant_type=urn:ietf:params:oauth:grant-type:device_code -d "device_code=$device" -d client_id=device
    expect 400 '"error":"authorization_pending"' $vector
  done

  finding 'tokens for userinfo have no audience'
  tokens confidential
  introspect "$access"
  expect 200 '"active":true'
  expect_no '"aud"' bearer/audience
  tokens confidential -d "resource=$one"
  introspect "$access"
  expect 200 '"aud":"https://one.example/"'
  request "$base/me" -H "authorization: Bearer $access"
  expect 401 '"error":"invalid_token"'

  finding 'other statuses than the documents name'
  tokens public
  request "$base/me" -H "authorization: Bearer $access" -H "authorization: Bearer $access"
  expect 200 '"sub":"alice"' bearer/two-fields
  request "$base/me" -H "authorization: Bearer $access" -H 'authorization: Bearer x'
  expect 200 '"sub":"alice"' # the first counts
  request "$base/token/introspection" -d "token=$access"
  expect 400 '"error":"invalid_request"' introspection/no-credentials-is-401
  introspect "$access" -H 'authorization: Bearer x'
  expect 400 '"error":"invalid_request"' introspection/unknown-bearer-is-401
  request "$base/request" -G -u "$(basic confidential)" -d response_type=code -d client_id=web -d scope=openid
  expect 404 'Not Found' par/get
  printf 'response_type=code&client_id=web&state=%01048576d' 0 > "$work/long"
  request "$base/request" -u "$(basic confidential)" -d "@$work/long"
  expect 400 '"error":"invalid_request"' par/oversized
  register '{"redirect_uris":["https://client.example/one"],"client_name":"First Name"}'
  request -X PATCH "$(of .registration_client_uri)" -H "authorization: Bearer $(of .registration_access_token)" \
    -H 'content-type: application/json' -d '{"client_name":"x"}'
  expect 404 'Not Found' client_management/patch
}

# run [VARIANT]: starts server.mjs and signs alice in.
run() {
  base=http://127.0.0.1:$(free_port)
  printf '\n# server.mjs %s\n' "$*"
  serve "$base/.well-known/oauth-authorization-server" node server.mjs "${base##*:}" "$@"
  rm -f "$jar"
  consent_page "$(id asked)" "$(uri asked)" -d scope=openid -d prompt=login "${s256[@]}"
  go "$place/login" -d name=alice --data-urlencode "password=$(var users.alice.password)"
}

run
rows
races '== 1' # in memory, requests do not interleave
stop_server
run --dpop-nonces
rows
stop_server
run --remote-store
rows
finding 'what is good once is good more often at once, with a store that is a round trip away'
races '> 1'
race '> 1' code consent_form consent/eight-at-once
race '> 1' access_token assertion client_assertion/eight-at-once
stop_server
run --one-use-store # an adapter that refuses a second mark
races '== 1'
stop_server

printf '\n# server.mjs --fapi\n'
base=http://127.0.0.1:$(free_port)
serve "$base/.well-known/oauth-authorization-server" node server.mjs "${base##*:}" --fapi
finding 'a JWT may be dated minutes ahead'
key=$(jq -c .vars.clients.assertion.private fapi.json)
public=$(jq -c '{typ: "dpop+jwt", jwk: (.vars.clients.assertion.private | {kty, crv, x, y})}' fapi.json)
# push IAT [option of curl…]: pushes a request with an assertion of that time.
push() {
  local claims="\"iss\":\"assertion\",\"sub\":\"assertion\",\"aud\":\"$base\",\"jti\":\"$RANDOM$RANDOM\",\"iat\":$1"
  request "$base/request" -d response_type=code -d client_id=assertion -d scope=openid "${s256[@]}" \
    --data-urlencode redirect_uri=https://assertion.example/callback \
    -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
    -d "client_assertion=$(jwt ES256 "{$claims,\"exp\":$((EPOCHSECONDS + 300))}" "$key" '{"kid":"assertion-key"}')" "${@:2}"
}
push "$((EPOCHSECONDS + 120))"
expect 201 request_uri fapi_flow/assertion-of-the-future
# proof IAT: prints a DPoP proof of that time.
proof() { jwt ES256 "{\"jti\":\"$RANDOM$RANDOM\",\"htm\":\"POST\",\"htu\":\"$base/request\",\"iat\":$1}" "$key" "$public"; }
push "$EPOCHSECONDS" -H "DPoP: $(proof "$((EPOCHSECONDS + 120))")"
expect 201 request_uri fapi_flow/proof-of-the-future
push "$EPOCHSECONDS" -H "DPoP: $(proof "$((EPOCHSECONDS + 900))")" # this one is too far ahead
expect 400 invalid_dpop_proof
