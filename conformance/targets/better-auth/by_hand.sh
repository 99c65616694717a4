# Findings of RESULTS.md in better-auth, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
port=$(free_port)
base="http://127.0.0.1:$port/api/auth"
origin="http://127.0.0.1:$port"

# Clients, secrets and the user are those of target.json.
scope='openid profile offline_access'
app=https://app.example/callback
web=web-secret-Kf84jsPq0xTz2m
code_only=code-only-secret-Jd72hsKe
service=service-secret-Qz81mdRt

# quietly COMMAND…: hides the output of a preparatory step.
quietly() { "$@" > /dev/null; }

# base64url: encodes standard input.
base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }

# s256 VERIFIER: prints its challenge.
s256() { printf '%s' "$1" | openssl dgst -sha256 -binary | base64url; }

# field NAME: prints the member of the last JSON response.
field() { jq --raw-output ".$1" <<< "$body"; }

# sign_in: signs Alice in, with the cookies in $work/alice.
sign_in() {
  request "$base/sign-in/email" --cookie-jar "$work/alice" -H "origin: $origin" \
    --json '{"email":"alice@example.com","password":"wonderland"}'
}

# authorize [NAME=VALUE | NAME]…: sends an authorization request in Alice's browser with these parameters (a bare name removes
# one) and consents if asked; sets answer (the redirect), asked (yes or no) and code.
authorize() {
  local -A query=([response_type]=code [client_id]=app [redirect_uri]=$app [scope]=$scope [state]=some-state
    [code_challenge]=$(s256 "$verifier") [code_challenge_method]=S256)
  local each arguments=()
  for each in "$@"; do
    if [[ $each == resource=* ]]; then arguments+=(--data-urlencode "$each")
    elif [[ $each == *=* ]]; then query[${each%%=*}]=${each#*=}
    else unset "query[$each]"; fi
  done
  for each in "${!query[@]}"; do arguments+=(--data-urlencode "$each=${query[$each]}"); done
  request --get "$base/oauth2/authorize" --cookie "$work/alice" "${arguments[@]}"
  answer=$(sed -n 's/^location: //Ip' <<< "$head") asked=no
  if [[ $answer == /consent* ]]; then
    asked=yes
    request "$base/oauth2/consent" --cookie "$work/alice" -H "origin: $origin" \
      --json "$(jq --null-input --arg query "${answer#*\?}" '{accept: true, oauth_query: $query}')"
    answer=$(field url)
  fi
  echo "< to $answer"
  code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$answer")
}

# redeem [option of curl…]: redeems the public client's code with the verifier.
redeem() {
  request "$base/oauth2/token" -d grant_type=authorization_code -d code="$code" -d redirect_uri="$app" -d client_id=app \
    --data-urlencode code_verifier="$verifier" "$@"
  access=$(field access_token) refresh=$(field refresh_token)
}

# redeem_of NAME SECRET [option of curl…]: redeems a code of a confidential client.
redeem_of() {
  request "$base/oauth2/token" -u "$1:$2" -d grant_type=authorization_code -d code="$code" \
    -d redirect_uri="https://$1.example/callback" -d code_verifier="$verifier" "${@:3}"
  access=$(field access_token) refresh=$(field refresh_token)
}

# grant [NAME=VALUE]…: gets a new access token and refresh token for the public client.
grant() {
  quietly authorize "$@"
  quietly redeem
}

# eight_at_once [option of curl…]: sends eight concurrent requests; sets answers to the sorted statuses.
eight_at_once() {
  local each arguments=()
  for each in 1 2 3 4 5 6 7 8; do arguments+=("$1" --output "$work/$each"); done
  answers=$(curl --no-progress-meter --max-time 20 --parallel --parallel-immediate "${arguments[@]}" "${@:2}" \
    --write-out '%{http_code}\n' | sort | xargs)
  echo "> eight times at once $*"
  echo "< $answers"
}

# refresh_with [option of curl…]: uses the public client's refresh token.
refresh_with() { request "$base/oauth2/token" -d grant_type=refresh_token -d refresh_token="$refresh" -d client_id=app "$@"; }

# user_info [option of curl…]: requests the protected resource.
user_info() { request "$base/oauth2/userinfo" "$@"; }

# introspect TOKEN [option of curl…]: introspects it as the confidential client.
introspect() { request "$base/oauth2/introspect" -u "web:$web" -d token="$1" "${@:2}"; }

# revoke TOKEN [option of curl…]: revokes it as the public client.
revoke() { request "$base/oauth2/revoke" -d client_id=app -d token="$1" "${@:2}"; }

# leads PATTERN [VECTOR…]: checks the redirect of the last authorization request.
leads() {
  [[ $answer =~ $1 ]]
  check "leads to $1" "${@:2}"
}

serve "$base/ok" node server.mjs "$port"
verifier=$(openssl rand -hex 32)
sign_in
expect 200 '"token"'
quietly authorize # Alice consents once

finding 'a hint is taken for the kind of token'
grant
revoke "$refresh" -d token_type_hint=access_token
expect 400 '"Invalid access token".*"invalid_request"' revocation/hint-wrong-for-refresh-token
refresh_with
expect 200 '"access_token"'
grant
revoke "$access" -d token_type_hint=refresh_token
expect 400 '"token not found".*"invalid_request"' revocation/hint-wrong-for-access-token
user_info -H "Authorization: Bearer $access"
expect 200 '"sub"'
revoke "$access" # without a hint it is found
expect 200 ''
quietly authorize client_id=web redirect_uri=https://web.example/callback
quietly redeem_of web "$web"
introspect "$access" -d token_type_hint=refresh_token
expect 200 '"active":false' introspection/hint-wrong
introspect "$access"
expect 200 '"active":true'
introspect "$refresh" -d token_type_hint=refresh_token
expect 200 '"active":true'
introspect "$refresh" -d token_type_hint=access_token
expect 200 '"active":false' introspection/refresh-token-called-access-token

finding 'a refresh token is narrowed for good'
grant "scope=$scope read"
refresh_with -d scope="$scope"
expect 200 '"refresh_token"'
refresh=$(field refresh_token)
refresh_with -d scope="$scope read"
expect 400 '"invalid_scope"' refresh/less-scope-once

finding 'a self-registered client redirects any browser'
request "$base/oauth2/register" --json '{"redirect_uris":["https://evil.example/cb"],"token_endpoint_auth_method":"none"}'
expect 201 '"client_id"'
# No cookies: no user is signed in.
request --get "$base/oauth2/authorize" -d response_type=code -d client_id="$(field client_id)" -d scope=no-such-scope -d state=x \
  -d redirect_uri=https://evil.example/cb -d code_challenge="$(s256 "$verifier")" -d code_challenge_method=S256
expect 302 'location: https://evil\.example/cb\?error=invalid_scope' registration/asked-before-redirect

finding 'a wrong verifier is `invalid_request` with 401'
right=$verifier other=$(openssl rand -hex 32)
while read -r vector sent more; do
  quietly authorize
  verifier=$sent
  # shellcheck disable=SC2086 # more is several options
  redeem $more
  expect 401 '"code verification failed".*"invalid_request"' "$vector"
  verifier=$right
done << END
pkce/verifier-wrong $other
pkce/verifier-altered $(tr '0-9a-f' '1-9a-f0' <<< "${right:0:1}")${right:1}
pkce/verifier-is-challenge $(s256 "$right")
pkce/method-in-token-request $(s256 "$right") -d code_challenge_method=plain
pkce/challenge-in-token-request $other -d code_challenge=$(s256 "$other") -d code_challenge_method=S256
END
quietly authorize
first=$code
verifier=$other
quietly authorize
code=$first
redeem # the first code, the second request's verifier
expect 401 '"code verification failed".*"invalid_request"' pkce/verifier-of-another-request
verifier=$right
quietly authorize client_id=web redirect_uri=https://web.example/callback
verifier=$other
redeem_of web "$web"
expect 401 '"code verification failed".*"invalid_request"' pkce/verifier-wrong-with-secret
verifier=$right

finding 'any verifier does'
while IFS=, read -r vector verifier; do
  quietly authorize
  redeem
  expect 200 '"access_token"' $vector
done << END
,a
pkce/verifier-too-short,${right:0:42}
pkce/verifier-too-long,$right$right-
pkce/verifier-with-odd-characters,a-verifier+with/signs=of-base64-that-is-as-long-as-it-has-to-be
pkce/verifier-with-blank,a verifier with blanks that is as long as it has to be
END
verifier=$right
while IFS=, read -r vector challenge; do
  authorize code_challenge="$challenge"
  leads '^https://app\.example/callback\?code=' "$vector"
done << END
pkce/challenge-too-short,${right:0:42}
pkce/challenge-too-long,$right$right-
pkce/challenge-padded,$(s256 "$right")=
pkce/challenge-with-odd-characters,E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM
END

finding 'a JWT signed with an unknown key is a server error'
openssl genpkey -algorithm ed25519 -out "$work/foreign.pem"
kid=$(curl -s "$base/jwks" | jq --raw-output '.keys[0].kid')
claims=$(jq --null-input --arg base "$base" '{iss: $base, sub: "alice", aud: "\($base)/oauth2/userinfo", client_id: "web",
  azp: "web", scope: "openid", exp: (now + 600 | floor), jti: "x"}' | base64url)
# Unsigned; signed with a foreign key; signed with a foreign key under the server's kid.
while IFS=' ' read -r header at_resource at_introspection; do
  printf '%s.%s' "$(printf '%s' "$header" | base64url)" "$claims" > "$work/token"
  signature=$(openssl pkeyutl -sign -inkey "$work/foreign.pem" -rawin -in "$work/token" | base64url)
  [[ $header == *none* ]] && signature=
  echo "$header"
  user_info -H "Authorization: Bearer $(cat "$work/token").$signature"
  expect 500 '' $at_resource
  introspect "$(cat "$work/token").$signature"
  expect 500 '' $at_introspection
done << END
{"alg":"none","typ":"at+jwt"} bearer/self-made-unsigned introspection/self-made-unsigned
{"alg":"EdDSA","typ":"at+jwt"} bearer/self-made introspection/self-made
{"alg":"EdDSA","typ":"at+jwt","kid":"$kid"}
END

finding 'no challenge without a token'
grant
user_info
expect 401 '"invalid_request"'
expect_no '[Ww][Ww][Ww]-[Aa]uthenticate' bearer/nothing-sent bearer/nothing-sent-says-no-error
request "$base/oauth2/userinfo?access_token=$access"
expect 401 '"invalid_request"'
expect_no '[Ww][Ww][Ww]-[Aa]uthenticate' bearer/in-query-refused
user_info -H 'Authorization: Bearer bad' # with a wrong token it has one
expect 401 '[Ww][Ww][Ww]-[Aa]uthenticate: Bearer error="invalid_token"'

finding 'a token without `Bearer`, or in one of two fields, is taken'
user_info -H "Authorization: $access"
expect 200 '"sub"' bearer/no-scheme
request "$base/oauth2/userinfo?access_token=$access" -H "Authorization: Bearer $access"
expect 200 '"sub"' bearer/two-ways bearer/two-ways-is-malformed
request "$base/oauth2/userinfo?access_token=bad" -H "Authorization: Bearer $access"
expect 200 '"sub"' bearer/two-ways-with-another
user_info -H "Authorization: Bearer $access" -H "Authorization: Bearer $access"
expect 200 '"sub"' bearer/two-fields

finding 'parameters may come twice'
for each in grant-type:grant_type=authorization_code redirect-uri:redirect_uri=$app code-verifier:code_verifier=$verifier; do
  quietly authorize
  redeem -d "${each#*:}"
  expect 200 '"access_token"' "token_endpoint/repeated-${each%%:*}"
done
quietly authorize
redeem -d code="$code"
expect 200 '"access_token"' token_endpoint/repeated-code
quietly authorize
redeem -d code=x # the code, then x: not invalid_request, because it looks up x
expect 400 '"invalid code".*"invalid_grant"' token_endpoint/repeated-unlike
right=$code code=x
redeem -d code="$right" # x, then the code
expect 200 '"access_token"'
refresh_with -d refresh_token="$refresh"
expect 200 '"access_token"' token_endpoint/repeated-refresh-token
# The vector requests the user's scopes, which client_credentials does not grant (400 invalid_scope); a granted one may be repeated.
request "$base/oauth2/token" -u "service:$service" -d grant_type=client_credentials -d scope="$scope" -d scope="$scope"
expect 400 '"invalid_scope"' token_endpoint/repeated-scope
request "$base/oauth2/token" -u "service:$service" -d grant_type=client_credentials -d scope=read -d scope=read
expect 200 '"access_token"'
grant
request "$base/oauth2/revoke" -d token="$refresh" -d token="$access" -d client_id=app
expect 200 '' revocation/two-tokens
user_info -H "Authorization: Bearer $access"
expect 401 '"invalid_token"'
refresh_with
expect 200 '"access_token"'

finding 'what was sent stands in `error_description`'
request "$base/oauth2/token" --data-urlencode $'grant_type="\\<b>é \r\n\a' -d client_id=app -d code=x
expect 400 '"unsupported grant_type \\"\\\\<b>é \\r\\n\\u0007"' token_endpoint/error-characters

finding 'an unknown token cannot be revoked'
revoke "$(openssl rand -hex 22)"
expect 400 '"token not found".*"invalid_request"' revocation/unknown-token
grant
revoke "${refresh}x"
expect 400 '"token not found".*"invalid_request"' revocation/altered
revoke "$refresh"
expect 200 ''
revoke "$refresh"
expect 400 '"token not found".*"invalid_request"' revocation/twice
grant
request "$base/oauth2/revoke" -d client_id=app-two -d token="$refresh" # unlike an unknown token, another client's returns 200, and stays valid
expect 200 '' revocation/of-another-client-is-refused
eight_at_once "$base/oauth2/revoke" -d client_id=app -d token="$refresh"
[[ $answers == '200 400 400 400 400 400 400 400' ]]
check 'one is answered with 200, seven with 400' revocation/eight-at-once

finding 'a refresh token for whom none is registered'
quietly authorize client_id=code-only redirect_uri=https://code-only.example/callback
redeem_of code-only "$code_only"
expect 200 '"refresh_token"' best_practice/no-refresh-token-without-the-grant
request "$base/oauth2/token" -u "code-only:$code_only" -d grant_type=refresh_token -d refresh_token="$refresh"
expect 200 '"refresh_token"'
# A client that Alice registered without the scope is refused earlier.
request "$base/oauth2/create-client" --cookie "$work/alice" -H "origin: $origin" \
  --json '{"redirect_uris":["https://less.example/cb"],"token_endpoint_auth_method":"none","scope":"openid profile"}'
expect 201 '"scope":"openid profile"'
authorize client_id="$(field client_id)" redirect_uri=https://less.example/cb
leads '^https://less\.example/cb\?error=invalid_scope&error_description=[^&]*offline_access'

finding '`unauthorized_client` is shown only to the user'
authorize client_id=no-code redirect_uri=https://no-code.example/callback scope
leads "^$base/error\?error=unauthorized_client" authorize/client-without-code-grant

finding 'an empty `response_type` is an unknown one'
authorize response_type=
leads '^https://app\.example/callback\?error=unsupported_response_type' authorize/empty-response-type
authorize response_type # without it, the error is the right one for both
leads '^https://app\.example/callback\?error=invalid_request'

finding 'blanks around a redirect URI are cut off'
authorize redirect_uri="$app "
leads '^https://app\.example/callback\?code=' redirect_uri/blank-after
authorize redirect_uri=" $app"
leads '^https://app\.example/callback\?code=' redirect_uri/blank-before

finding 'UserInfo is in the audience of every token with `openid`'
one=http://127.0.0.1:8811/api/one two=http://127.0.0.1:8811/api/two # identifiers of two resources; no server is there
# is_for RESOURCE VECTOR: checks the audience of the last access token.
is_for() {
  introspect "$(field access_token)"
  expect 200 "\"aud\":\[\"$1\",\"$base/oauth2/userinfo\"\]" "$2"
}
quietly authorize "resource=$one"
redeem -d resource="$one"
is_for "$one" resource_indicators/audience
user_info -H "Authorization: Bearer $access"
expect 200 '"name"' resource_indicators/refused-elsewhere
refresh_with
is_for "$one" resource_indicators/refreshed-token-stays-there
grant "resource=$one"
is_for "$one" resource_indicators/audience-from-the-authorization
quietly authorize "resource=$one" "resource=$two"
redeem -d resource="$one"
is_for "$one" resource_indicators/narrowed
refresh_with -d resource="$two"
is_for "$two" resource_indicators/refresh-keeps-the-grant

finding 'a consent is remembered, for public clients too'
asked_app=(client_id=asked redirect_uri=https://asked.example/callback)
authorize "${asked_app[@]}"
[[ $asked == yes && -n $code ]]
check 'she is asked, and gets a code'
authorize "${asked_app[@]}"
[[ $asked == no && -n $code ]]
check 'she is not asked again, and gets a code' consent/asked-again
authorize "${asked_app[@]}" prompt=consent
[[ $asked == yes ]]
check 'she is asked'

finding '`redirect_uri` is required'
authorize redirect_uri
leads "^$base/error\?error=invalid_redirect" redirect_uri/omitted-with-one
authorize redirect_uri=
leads "^$base/error\?error=invalid_request" redirect_uri/empty-with-one

finding 'errors of the framework'
quietly authorize
request "$base/oauth2/token" --json '{"grant_type":"authorization_code","client_id":"app"}'
expect 415 '"message":'
expect_no '"error"' token_endpoint/error-is-json
redeem -H 'content-type: application/x-www-form-urlencoded-x'
expect 500 '' token_endpoint/media-type-alike
request "$base/oauth2/register" --json '{"redirect_uris":["https://cl'
expect 400 '"Invalid JSON in request body"'
expect_no '"error"' registration/body-half

finding 'Who wins a race gets status 500'
# Not every race has this result: of ten, at least one must. race [option of curl…]: runs one.
race() {
  eight_at_once "$base/oauth2/token" -d client_id=app "$@"
  won=$(grep -o 200 <<< "$answers" | wc -l)
  ((won > most)) && most=$won
  [[ $answers == *500* ]] && lost=$((lost + 1))
}
most=0 lost=0
for _ in $(seq 10); do
  quietly authorize
  race -d grant_type=authorization_code -d code="$code" -d redirect_uri="$app" -d code_verifier="$verifier"
done
((most <= 1 && lost >= 1))
check "tokens for one at most ($most), and status 500 in one race at least ($lost)" code/eight-at-once-are-answered
most=0 lost=0
for _ in $(seq 10); do
  grant
  race -d grant_type=refresh_token -d refresh_token="$refresh"
done
((most <= 1 && lost >= 1))
check "tokens for one at most ($most), and status 500 in one race at least ($lost)" refresh/eight-at-once
grep --quiet 'FOREIGN KEY constraint failed' "$work/server.log"
check 'the server log has the reason: FOREIGN KEY constraint failed'
