# Findings of RESULTS.md in oidc-provider, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

jar=$work/jar            # the cookies of alice's browser
place='' page='' code='' # where the browser is, what it shows, and the last code
verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk # of RFC 7636, appendix B
s256=(-d code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM -d code_challenge_method=S256)
one=https://one.example/ two=https://two.example/ # the APIs of target.json
# Clients are named as in target.json, so that ids and secrets stand there alone.
var() { jq -r ".vars.$1 // empty" target.json; }
id() { var "clients.$1.id"; }
uri() { var "clients.$1.redirect_uri"; }
basic() { echo "$(id "$1"):$(var "clients.$1.secret")"; }

of() { jq -cr "$1" <<< "$body"; } # what the last answer's JSON has there

# go URL [option of curl…]: the browser goes there, and on until it sees a page or is sent to a client.
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

# consent_page ID URI [option of curl…]: a client sends alice for a code, and she sees the page that asks her.
consent_page() {
  go "$base/auth" -G -d response_type=code -d "client_id=$1" --data-urlencode "redirect_uri=$2" -d state=abc "${@:3}"
}

# allow ID URI [option of curl…]: and she allows it.
allow() {
  consent_page "$@"
  [[ $place == "$base"/interaction/* ]] && go "$place/confirm" -d ''
  code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$place")
}

# authorize CLIENT [option of curl…]: the same for a client of the target.
authorize() { allow "$(id "$1")" "$(uri "$1")" -d scope=openid "${@:2}"; }

# redemption CLIENT: what it sends for the code, in form.
redemption() {
  form=(-d grant_type=authorization_code -d "code=$code" --data-urlencode "redirect_uri=$(uri "$1")"
    -d "code_verifier=$verifier" "${@:2}")
  if [[ -n $(var "clients.$1.secret") ]]; then form+=(-u "$(basic "$1")"); else form+=(-d "client_id=$(id "$1")"); fi
}

# tokens CLIENT [option of curl…]: alice's for it, in access and refresh.
tokens() {
  authorize "$1" "${s256[@]}" "${@:2}"
  redemption "$@"
  ask "$base/token" "${form[@]}"
  access=$(of .access_token) refresh=$(of .refresh_token)
}

# introspect TOKEN [option of curl…]: asked by the confidential client, unless the options say who asks.
introspect() {
  (($# > 1)) || set -- "$1" -u "$(basic confidential)"
  ask "$base/token/introspection" -d "token=$1" "${@:2}"
}

register() { ask "$base/reg" -H 'content-type: application/json' -d "$1"; }

# jwt ALG CLAIMS [JWK]: signed by the key, or by one that nobody knows; not at all when ALG is none.
jwt() {
  node -e 'const { createPrivateKey, generateKeyPairSync, sign } = require("node:crypto");
    const [alg, claims, jwk] = process.argv.slice(1);
    const key = jwk ? createPrivateKey({ key: JSON.parse(jwk), format: "jwk" })
      : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const said = [JSON.stringify({ alg }), claims].map((part) => Buffer.from(part).toString("base64url")).join(".");
    const signature = alg === "none" ? "" : sign("sha256", said, { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
    console.log(`${said}.${signature}`);' "$@"
}

# eight URL [option of curl…]: the same eight times at once; with odd=ID the public client's every other time by that one.
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

# granted NAME: the different ones in the eight answers.
granted() { sed -n "s/.*[?&\"]$1[=\":]*\([^&\"]*\).*/\1/p" "$work"/answer* | sort -u; }

# race HOW NAME SENT [VECTOR…]: what eight at once give differs in NAME so often. Whether they meet is luck: three tries.
race() {
  local how=$1 name=$2 sent=$3 tries=3 count
  [[ $how == '> 1' ]] || { tries=1; set -- "${@:1:3}"; } # the vectors fail where it is more than one alone
  while ((tries-- > 0)); do
    $sent
    count=$(granted "$name" | wc -l)
    echo "< $count different of $name"
    ((count $how)) && break
  done
  ((count $how))
  proven "$sent, $name: $how" "${@:4}"
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

# races HOW: what is good once, eight times at once.
races() {
  local early
  race "$1" access_token "code_of public" code/eight-at-once code/eight-at-once-are-answered
  early=$(granted access_token | head -1)
  ask "$base/token" "${form[@]}"
  told 400 '"error":"invalid_grant"'
  introspect "$early"
  told 200 '"active":false' # who comes after the mark ends the grant
  race "$1" access_token "code_of confidential" code/eight-at-once-of-a-confidential-client
  race "$1" access_token code_and_thief code/two-clients-at-once
  ! grep --quiet '^HTTP.* 200' "$work"/answer[1357]
  proven 'the thief has nothing'
  race "$1" refresh_token "refresh_of public -d client_id=app" refresh/eight-at-once
  race "$1" refresh_token "refresh_of confidential -u $(basic confidential)" refresh/eight-at-once-of-a-confidential-client
}

rows() {
  finding 'plain `http` redirect URIs are registered'
  while read -r vector uris; do
    register '{"redirect_uris":'"$uris"',"token_endpoint_auth_method":"none"}'
    [[ $status == 201 && $(of .redirect_uris) == "$uris" ]]
    proven "201, $uris" "$vector"
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
  proven 'the code goes there'
  register '{"redirect_uris":["http://client.example/cb"],"grant_types":["implicit"],"response_types":["id_token"]}'
  told 400 'invalid_redirect_uri|invalid_client_metadata' # of the implicit flow https is demanded

  finding 'a refused refresh spends the refresh token'
  tokens public -d "resource=$one"
  ask "$base/token" -d grant_type=refresh_token -d "refresh_token=$refresh" -d client_id=app -d "resource=$two"
  told 400 '"error":"invalid_target"'
  introspect "$access"
  told 200 '"active":true'
  ask "$base/token" -d grant_type=refresh_token -d "refresh_token=$refresh" -d client_id=app -d "resource=$one"
  told 400 '"error":"invalid_grant"' resource_indicators/refused-refresh-spends-nothing
  introspect "$access"
  told 200 '"active":false'

  finding "a stranger's GET is an error of the server"
  ask "$base/device/auth?client_id=device&scope=openid"
  told 500 'Internal Server Error' device/get
  ask "$base/device/x"
  told 500 'Internal Server Error'
  (($(grep -c 'persist can only be called on previously persisted Sessions' "$work/server.log") == 2))
  proven 'both are in the log'
  ask "$base/device/x/y"
  told 404 ''
  alive; proven 'the server goes on'

  finding '`invalid_request` for `unauthorized_client`'
  ask "$base/token" -d grant_type=client_credentials -d client_id=app
  told 400 '"error":"invalid_request"' client_credentials/public-client
  ask "$base/token" -u "$(basic code_only)" -d grant_type=client_credentials
  told 400 '"error":"invalid_request"' client_credentials/not-registered-for-it
  ask "$base/token" -u "$(basic service)" -d grant_type=authorization_code -d code=x -d redirect_uri=https://x.example/
  told 400 '"error":"invalid_request"' client_credentials/other-grants
  ask "$base/device/auth" -d client_id=app -d scope=openid
  told 400 '"error":"invalid_request"' device/not-allowed-the-grant
  consent_page "$(id no_code)" "$(uri no_code)" "${s256[@]}"
  [[ $place == "$(uri no_code)?error=invalid_request&"* ]]
  proven 'error=invalid_request' authorize/client-without-code-grant

  finding 'every client may ask about every token'
  tokens confidential
  register '{"redirect_uris":["https://stranger.example/cb"],"token_endpoint_auth_method":"client_secret_basic"}'
  introspect "$access" -u "$(of .client_id):$(of .client_secret)"
  told 200 '"active":true,"sub":"alice".*"scope":"openid"' introspection/of-a-stranger
  introspect "$refresh" -u "$(basic other)"
  told 200 '"active":true,"sub":"alice".*"scope":"openid"' introspection/refresh-token-of-another

  finding 'a public client may ask, about its own tokens'
  introspect "$access" -d client_id=app-two
  told 200 '"active":false' introspection/public-client
  tokens public_other
  introspect "$access" -d client_id=app-two
  told 200 '"active":true'

  finding 'JWTs cannot be asked about'
  local claims='{"iss":"'"$base"'","sub":"alice","client_id":"web","exp":'$((EPOCHSECONDS + 3600))',"scope":"openid"}'
  introspect "$(jwt none "$claims")"
  told 400 '"error":"unsupported_token_type"' introspection/self-made-unsigned
  introspect "$(jwt ES256 "$claims")"
  told 400 '"error":"unsupported_token_type"' introspection/self-made
  ask "$base/token" -u "$(basic jwt)" -d grant_type=client_credentials # one of its own
  introspect "$(of .access_token)" -u "$(basic jwt)"
  told 400 '"error":"unsupported_token_type"'

  finding '`redirect_uri` may be left out of the token request'
  authorize confidential
  ask "$base/token" -u "$(basic confidential)" -d grant_type=authorization_code -d "code=$code"
  told 200 '"access_token":' code/redirect-uri-left-out
  authorize two_uris "${s256[@]}" # of two nothing is filled in
  ask "$base/token" -d client_id=two-uris -d grant_type=authorization_code -d "code=$code" -d "code_verifier=$verifier"
  told 400 '"error":"invalid_request"'

  finding 'no scope is told as `access_denied`'
  consent_page "$(id public)" "$(uri public)" "${s256[@]}"
  [[ $place == "$(uri public)?error=access_denied&"* ]]
  proven 'error=access_denied, and nobody was asked' scope/left-out

  finding 'no `Pragma`'
  tokens public
  told 200 'cache-control: no-store'
  lacks '[Pp]ragma' token_endpoint/granted-not-cached-by-old-caches

  finding "a public client is not told that a token is another's"
  ask "$base/token/revocation" -d "token=$refresh" -d client_id=app-two
  told 200 '' revocation/of-another-client-is-refused
  introspect "$refresh"
  told 200 '"active":true'

  finding 'no `slow_down`'
  ask "$base/device/auth" -d client_id=device -d scope=openid
  device=$(of .device_code)
  for vector in '' device/slow-down; do
    ask "$base/token" -d grant_type=urn:ietf:params:oauth:grant-type:device_code -d "device_code=$device" -d client_id=device
    told 400 '"error":"authorization_pending"' $vector
  done

  finding 'tokens for userinfo have no audience'
  tokens confidential
  introspect "$access"
  told 200 '"active":true'
  lacks '"aud"' bearer/audience
  tokens confidential -d "resource=$one"
  introspect "$access"
  told 200 '"aud":"https://one.example/"'
  ask "$base/me" -H "authorization: Bearer $access"
  told 401 '"error":"invalid_token"'

  finding 'other statuses than the documents name'
  tokens public
  ask "$base/me" -H "authorization: Bearer $access" -H "authorization: Bearer $access"
  told 200 '"sub":"alice"' bearer/two-fields
  ask "$base/me" -H "authorization: Bearer $access" -H 'authorization: Bearer x'
  told 200 '"sub":"alice"' # the first counts
  ask "$base/token/introspection" -d "token=$access"
  told 400 '"error":"invalid_request"' introspection/no-credentials-is-401
  introspect "$access" -H 'authorization: Bearer x'
  told 400 '"error":"invalid_request"' introspection/unknown-bearer-is-401
  ask "$base/request" -G -u "$(basic confidential)" -d response_type=code -d client_id=web -d scope=openid
  told 404 'Not Found' par/get
  printf 'response_type=code&client_id=web&state=%01048576d' 0 > "$work/long"
  ask "$base/request" -u "$(basic confidential)" -d "@$work/long"
  told 400 '"error":"invalid_request"' par/oversized
  register '{"redirect_uris":["https://client.example/one"],"client_name":"First Name"}'
  ask -X PATCH "$(of .registration_client_uri)" -H "authorization: Bearer $(of .registration_access_token)" \
    -H 'content-type: application/json' -d '{"client_name":"x"}'
  told 404 'Not Found' client_management/patch
}

# run [VARIANT]: of server.mjs; alice is signed in.
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
races '== 1' # in memory nothing meets
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
run --one-use-store # an adapter that refuses the second mark
races '== 1'
