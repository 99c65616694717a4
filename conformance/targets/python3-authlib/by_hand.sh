# Findings of RESULTS.md in Authlib 1.2.0, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

# An Authlib application: server.py, as in its documentation. If the application's own code could cause a response, the
# request is repeated where only the library responds.
start() { # start [bare]: starts a new server and signs alice in
  port=$(free_port)
  base=http://127.0.0.1:$port
  serve "$base/" env TMPDIR="$work" /usr/bin/python3 server.py "$port" "$@"
  request "$base/login" -c "$work/cookies" -d username=alice -d password=wonderland > /dev/null
}

verifier=by-hand-0123456789-0123456789-0123456789-0123
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | basenc --base64url | tr -d =)
pkce="code_challenge=$challenge&code_challenge_method=S256"
to_app='client_id=app&redirect_uri=https://app.example/callback'
to_web='client_id=web&redirect_uri=https://web.example/callback'
secret=web-secret-Kf84jsPq0xTz2m
code_grant=grant_type=authorization_code

# page QUERY: opens the authorization endpoint in alice's browser.
page() { request "$base/oauth/authorize?$1" -b "$work/cookies"; }
# consent QUERY: presses Yes there; sets code. Only create_authorization_response responds.
consent() {
  request "$base/oauth/authorize?$1" -b "$work/cookies" -d confirm=yes
  code=$(sed -n 's/^location: .*[?&]code=\([^&]*\).*/\1/Ip' <<< "$head")
}
# new_code CLIENT [SCOPE]: sets code without output.
new_code() { consent "response_type=code&$1&scope=${2:-profile}&state=xyz&$pkce" > /dev/null; }
# redeem OPTION…: redeems app's code; the options set the grant type and changes.
redeem() {
  request "$base/oauth/token" -d "code=$code" -d redirect_uri=https://app.example/callback -d client_id=app \
    -d "code_verifier=$verifier" "$@"
}
# redeem_web OPTION…: redeems web's code; the options authenticate the client.
redeem_web() {
  request "$base/oauth/token" -d $code_grant -d "code=$code" -d redirect_uri=https://web.example/callback \
    -d "code_verifier=$verifier" "$@"
}
# app_tokens [SCOPE], web_tokens: set access and refresh without output.
app_tokens() { new_code "$to_app" "$@" && redeem -d $code_grant > /dev/null && take; }
web_tokens() { new_code "$to_web" && redeem_web -u "web:$secret" > /dev/null && take; }
take() { access=$(jq -r .access_token <<< "$body") refresh=$(jq -r .refresh_token <<< "$body"); }
# renew TOKEN OPTION…: uses app's refresh token.
renew() { request "$base/oauth/token" -d grant_type=refresh_token -d client_id=app -d "refresh_token=$1" "${@:2}"; }
revoke() { request "$base/oauth/revoke" "$@"; }
introspect() { request "$base/oauth/introspect" -u "web:$secret" "$@"; }
me() { request "$base/me" -H "Authorization: Bearer $access" "$@"; }
register() { request "$base/oauth/register" --json "$1"; }

start

finding 'by its name alone a confidential client revokes'
request "$base/oauth/token" -u service:service-secret-Qz81mdRt -d grant_type=client_credentials -d scope=profile > /dev/null
take
revoke -d client_id=service -d "token=$access"
expect 200 '\{\}' revocation/without-secret
request "$base/me" -H "Authorization: Bearer $access"
expect 401 invalid_token

finding 'two ways to authenticate at once'
while read -r vector options; do
  new_code "$to_web"
  redeem_web -u "web:$secret" $options # split at spaces
  expect 200 '"access_token"' "$vector"
done << END
client_authentication/two-methods -d client_id=web -d client_secret=$secret
client_authentication/two-methods-one-wrong -d client_id=web -d client_secret=wrong
client_authentication/two-methods-of-two-clients -d client_id=web-two -d client_secret=web-two-secret-n7Yw3LrBv
client_authentication/two-names -d client_id=web-two
END
# The registered method must be right; the other one alone is refused.
new_code "$to_web"
redeem_web -u web:wrong -d client_id=web -d "client_secret=$secret"
expect 401 invalid_client

finding 'a hint is taken for the kind of token'
app_tokens
revoke -d client_id=app -d "token=$refresh" -d token_type_hint=access_token
expect 200 '\{\}'
renew "$refresh"
expect 200 '"refresh_token"' revocation/hint-wrong-for-refresh-token
app_tokens
revoke -d client_id=app -d "token=$access" -d token_type_hint=refresh_token
expect 200 '\{\}'
me
expect 200 alice revocation/hint-wrong-for-access-token
web_tokens
introspect -d "token=$access" -d token_type_hint=refresh_token
expect 200 '"active": false' introspection/hint-wrong
introspect -d "token=$refresh" -d token_type_hint=refresh_token
expect 200 '"active": true'
introspect -d "token=$refresh" -d token_type_hint=access_token
expect 200 '"active": false' introspection/refresh-token-called-access-token

finding 'an unknown hint is refused'
introspect -d "token=$access" -d token_type_hint=no_such_type
expect 401 unsupported_token_type introspection/hint-unknown
app_tokens
revoke -d client_id=app -d "token=$refresh" -d token_type_hint=no_such_type
expect 401 unsupported_token_type revocation/hint-unknown
revoke -d client_id=app -d "token=$refresh" -d token_type_hint=__proto__
expect 401 unsupported_token_type revocation/hint-prototype

finding 'a token without any scope does not say so'
request "$base/oauth/token" -u service:service-secret-Qz81mdRt -d grant_type=client_credentials -d scope=admin
expect 200 '"access_token"'
expect_no '"scope"' client_credentials/scope-beyond
# If some scope remains, it is returned.
request "$base/oauth/token" -u service:service-secret-Qz81mdRt -d grant_type=client_credentials -d 'scope=profile admin'
expect 200 '"scope": "profile"'

finding 'a refresh token is narrowed for good'
app_tokens 'profile+read'
renew "$refresh" -d scope=profile
expect 200 '"scope": "profile"'
take
renew "$refresh" -d 'scope=profile read'
expect 400 invalid_scope refresh/less-scope-once

finding 'replay of a refresh token ends nothing'
app_tokens
first=$refresh
renew "$first" > /dev/null
take
renew "$refresh" > /dev/null
take
renew "$first"
expect 400 invalid_grant
me
expect 200 alice refresh/reuse-ends-access
renew "$refresh"
expect 200 '"access_token"' refresh/reuse-ends-the-family
app_tokens
first=$refresh
renew "$first" > /dev/null
take
request "$base/control/advance" --json '{"seconds":3600}'
renew "$first"
expect 400 invalid_grant
renew "$refresh"
expect 200 '"access_token"' refresh/late-reuse

finding 'an unknown `response_type` is not reported to the client'
rest="$to_app&scope=profile&$pkce"
with_query='client_id=with-query&redirect_uri=https%3A%2F%2Fquery.example%2Fcallback%3Fapp%3D1'
while read -r vectors query; do
  page "$query"
  expect 400 unsupported_response_type ${vectors//,/ }
  expect_no '[Ll]ocation:'
done << END
authorize/response-type-unknown response_type=x-nonsense&$rest&state=xyz
authorize/empty-response-type response_type=&$rest&state=xyz
authorize/response-type-missing,authorize/error-in-query $rest&state=xyz
authorize/response-type-in-other-case response_type=Code&$rest&state=xyz
authorize/response-type-token-without-implicit response_type=token&$rest&state=xyz
authorize/response-type-order response_type=token+code&$rest&state=xyz
authorize/error-keeps-state response_type=x-nonsense&$rest&state=+%25%26%2B%22%27%3C%3E%3D%3B%23
authorize/error-without-state response_type=x-nonsense&$rest
redirect_uri/query-is-kept response_type=x-nonsense&$with_query&scope=profile&state=xyz&$pkce
END
consent "response_type=x-nonsense&$rest&state=xyz"
expect 400 unsupported_response_type
expect_no '[Ll]ocation:'

finding 'errors about PKCE leave `state` out'
rest="response_type=code&$to_app&scope=profile&state=xyz"
while read -r vector query; do
  page "$rest&$query"
  expect 302 'callback\?error=invalid_request'
  expect_no 'state=' "$vector"
  consent "$rest&$query"
  expect 302 'callback\?error=invalid_request'
  expect_no 'state='
done << END
pkce/method-unknown code_challenge=$challenge&code_challenge_method=S512
pkce/method-prototype code_challenge=$challenge&code_challenge_method=constructor
pkce/challenge-empty code_challenge=&code_challenge_method=S256
pkce/challenge-missing-with-method code_challenge_method=S256
END
# Other errors have it.
request "$base/oauth/authorize?$rest&$pkce" -b "$work/cookies" -d confirm=
expect 302 'error=access_denied.*state=xyz'

finding 'PKCE is asked for late'
page "$rest"
expect 200 'app asks for profile' pkce/challenge-missing pkce/challenge-missing-is-explained
consent "$rest"
expect 302 'code='
request "$base/oauth/token" -d $code_grant -d "code=$code" -d redirect_uri=https://app.example/callback -d client_id=app
expect 400 'Missing .*code_verifier'

finding 'Basic is not form-decoded'
request "$base/oauth/token" -u 'odd:odd%3A+100%25+%26+more+%2B+a+space' -d grant_type=client_credentials
expect 401 invalid_client client_authentication/odd-secret
request "$base/oauth/token" -u 'odd:odd: 100% & more + a space' -d grant_type=client_credentials
expect 200 '"access_token"'

finding 'Basic that is not UTF-8 is a server error'
new_code "$to_web"
redeem_web -H 'Authorization: Basic //79OnA='
expect 500 'Internal Server Error' client_authentication/basic-not-utf-8
grep -A1 extract_basic_authorization "$work/server.log" | grep -q b64decode && grep -q ^UnicodeDecodeError "$work/server.log"
check 'UnicodeDecodeError in extract_basic_authorization'

finding 'the first of several redirect URIs counts'
consent "response_type=code&client_id=two-uris&scope=profile&state=xyz&$pkce"
expect 302 'https://two.example/first\?code=' redirect_uri/omitted-with-two

finding 'parameters may come twice'
rest="response_type=code&scope=profile&$pkce"
while read -r vector query; do
  page "$query"
  expect 200 'app asks for profile' "$vector"
done << END
authorize/repeated-response-type response_type=code&$rest&$to_app&state=xyz
authorize/repeated-scope scope=profile&$rest&$to_app&state=xyz
authorize/repeated-code-challenge code_challenge=$challenge&$rest&$to_app&state=xyz
authorize/repeated-state $rest&$to_app&state=xyz&state=other
authorize/repeated-client-id $rest&client_id=app&$to_app&state=xyz
authorize/repeated-client-id-of-two $rest&client_id=app-two&$to_app&state=xyz
redirect_uri/repeated-right-last $rest&redirect_uri=https://evil.example/cb&$to_app&state=xyz
redirect_uri/repeated-alike $rest&redirect_uri=https://app.example/callback&$to_app&state=xyz
END
# At this endpoint the last one counts.
page "$rest&$to_app&redirect_uri=https://evil.example/cb&state=xyz"
expect 400 'not supported by client'
consent "$rest&$to_app&state=xyz&state=other"
expect 302 'app.example/callback.*state=other'
while read -r vector parameter; do
  new_code "$to_app"
  redeem -d $code_grant -d "${parameter/CODE/$code}"
  expect 200 '"access_token"' "token_endpoint/$vector"
done << END
repeated-grant-type $code_grant
repeated-code code=CODE
repeated-redirect-uri redirect_uri=https://app.example/callback
repeated-client-id client_id=app
repeated-code-verifier code_verifier=$verifier
repeated-unlike code=x
END
request "$base/oauth/token" -u service:service-secret-Qz81mdRt -d grant_type=client_credentials -d scope=profile -d scope=profile
expect 200 '"access_token"' token_endpoint/repeated-scope
# At the token endpoint the first one counts.
new_code "$to_app"
request "$base/oauth/token" -d $code_grant -d code=x -d "code=$code" -d client_id=app -d "code_verifier=$verifier"
expect 400 invalid_grant
app_tokens
renew "$refresh" -d "refresh_token=$refresh"
expect 200 '"access_token"' token_endpoint/repeated-refresh-token
app_tokens
revoke -d client_id=app -d "token=$refresh" -d "token=$access"
expect 200 '\{\}' revocation/two-tokens

finding 'quotation marks in `error_description`'
new_code "$to_app"
request "$base/oauth/token" -d $code_grant -d code=wrong -d client_id=app -d "code_verifier=$verifier"
expect 400 'Invalid \\"code\\" in request' token_endpoint/error-characters

finding 'missing and empty parameters return another error'
redeem # the code is valid
expect 400 unsupported_grant_type token_endpoint/grant-type-missing token_endpoint/error-status
redeem -d grant_type=
expect 400 unsupported_grant_type token_endpoint/grant-type-empty
request "$base/oauth/token" -X POST -H 'Content-Type: application/x-www-form-urlencoded'
expect 400 unsupported_grant_type token_endpoint/empty-body
request "$base/oauth/token" -d $code_grant -d code= -d redirect_uri=https://app.example/callback -d client_id=app \
  -d "code_verifier=$verifier"
expect 400 invalid_grant code/code-empty
renew ''
expect 400 invalid_grant refresh/empty
revoke -d client_id=app -d token=
expect 200 '\{\}' revocation/token-empty
introspect -d token=
expect 200 '"active": false' introspection/token-empty

finding 'registration takes what comes'
good='"redirect_uris":["https://client.example/cb"]'
public='"token_endpoint_auth_method":"none"'
kinds='"grant_types":["authorization_code"],"response_types":["code"]'
while IFS=' ' read -r vectors json; do
  register "{$json,$public}"
  expect 201 '"client_id"' ${vectors//,/ }
done << END
registration/uri-plain-http "redirect_uris":["http://client.example/cb"]
registration/uri-plain-http-beside-good "redirect_uris":["https://client.example/cb","http://client.example/cb"]
registration/uri-loopback-as-prefix "redirect_uris":["http://127.0.0.1.evil.example/cb"]
registration/uri-localhost-as-prefix "redirect_uris":["http://localhost.evil.example/cb"]
registration/uri-loopback-as-user "redirect_uris":["http://127.0.0.1:80@evil.example/cb"]
registration/uri-fragment "redirect_uris":["https://client.example/cb#x"]
registration/uri-empty "redirect_uris":[""]
registration/uris-empty "redirect_uris":[]
registration/uris-missing "grant_types":["authorization_code"]
clients/public-without-redirect-uri $kinds
clients/redirect-uri-without-tls "redirect_uris":["http://conformance.example/cb"],$kinds
clients/redirect-uri-with-fragment "redirect_uris":["https://conformance.example/cb#x"],$kinds
clients/one-bad-redirect-uri-of-two "redirect_uris":["https://conformance.example/cb","https://conformance.example/cb#x"],$kinds
END
register "{$good,$public,$kinds,\"application_type\":\"native\"}"
expect 201 '"client_secret": "[0-9a-f]{48}"' clients/public-gets-no-secret
# The private key of RFC 7517, appendix A.2.
d=870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE
xy='"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"'
register "{$good,\"jwks\":{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",$xy,\"d\":\"$d\"}]}}"
expect 201 "$d" registration/keys-private
register "{$good}"
expect 201 '"client_id"'
expect_no '"grant_types"|"response_types"' registration/defaults
register "{$good,$public,\"__proto__\":{\"grant_types\":[\"client_credentials\"],\"source\":\"operator\"}}"
expect 201 '"client_id"'
expect_no '"grant_types"' registration/prototype
id=$(jq -r .client_id <<< "$body")
page "response_type=code&client_id=$id&redirect_uri=https://client.example/cb&scope=profile&state=xyz&$pkce"
expect 302 'client.example/cb\?error=unauthorized_client' registration/uri-works
while read -r vector json; do
  register "$json"
  expect 500 'Internal Server Error' "registration/$vector"
done << END
uris-numbers {"redirect_uris":[7]}
uris-nested {"redirect_uris":[["https://client.example/cb"]]}
body-number 7
END
register '{"redirect_uris":["https://cl'
expect 400 '<title>400 Bad Request' registration/body-half
register ''
expect 400 '<title>400 Bad Request' registration/body-empty
register '{"redirect_uris":["https://é.example/cb#x"]}'
expect 201 '"client_id"' registration/error-format

finding 'a tab separates scopes'
page "response_type=code&$to_app&scope=profile%09read&state=xyz&$pkce"
expect 200 'asks for profile read' scope/with-tab

finding 'the port of a loopback address counts'
page "response_type=code&client_id=native&redirect_uri=http://127.0.0.1:49731/callback&scope=profile&state=xyz&$pkce"
expect 400 'not supported by client' best_practice/loopback-any-port

finding 'a used code ends nothing'
app_tokens
redeem -d $code_grant
expect 400 invalid_grant
me
expect 200 alice code/twice-then-access-token
renew "$refresh"
expect 200 '"access_token"' code/twice-then-refresh-token

finding 'smaller SHOULDs at the resource, of challenges and of lifetimes'
new_code "$to_app"
redeem -d $code_grant
expect 200 '"expires_in": 864000' token_endpoint/granted-lifetime-of-an-hour
take
request "$base/admin" -H "Authorization: Bearer $access"
expect 403 insufficient_scope
expect_no '[Ww][Ww][Ww]-[Aa]uthenticate' bearer/insufficient-scope
request "$base/me"
expect 401 'bearer error="missing_authorization"' bearer/nothing-sent-says-no-error
request "$base/me?access_token=$access" -H "Authorization: Bearer $access"
expect 200 alice bearer/two-ways bearer/two-ways-is-malformed
request "$base/me" -H 'Authorization: Bearer wrong'
expect 401 'extra_attributes="\{\}"'
while read -r vector odd; do
  page "response_type=code&$to_app&scope=profile&state=xyz&code_challenge=$odd&code_challenge_method=S256"
  expect 200 'asks for profile' "pkce/$vector"
done << END
challenge-too-short ${challenge:1}
challenge-too-long $challenge$challenge$challenge
challenge-padded $challenge%3D
challenge-with-odd-characters ${challenge:1}%2B
END
revoke -d client_id=app-two -d "token=$refresh"
expect 200 '\{\}' revocation/of-another-client-is-refused
renew "$refresh"
expect 200 '"access_token"'

# Findings below the table.
stop_server
start bare

finding 'With the lists of what is supported, registration without them ends in 500'
register "{$good}"
expect 500 'Internal Server Error'
grep -q "^TypeError: 'NoneType' object is not iterable" "$work/server.log"
check 'set(None)'
register "{$good,$kinds}"
expect 201 '"client_id"'

# at_once OPTION…: sends eight concurrent token requests; sets won to the number that returned tokens.
at_once() {
  local answers
  answers=$(curl --silent --max-time 20 --parallel --parallel-immediate --output /dev/null --write-out '%{http_code}\n' \
    "$base/oauth/token#[1-8]" -d client_id=app "$@")
  printf '> eight at once: %s\n' "$(sort <<< "$answers" | uniq -c | tr -s ' \n' ' ')"
  won=$(grep -c 200 <<< "$answers")
}

finding 'Written as documented, a code is not used once'
for _ in $(seq 60); do # depends on timing
  new_code "$to_app"
  at_once -d $code_grant -d "code=$code" -d redirect_uri=https://app.example/callback -d "code_verifier=$verifier"
  ((won > 1)) && break
done
((won > 1))
check '2 or more of 8 uses of a code had tokens'
for _ in $(seq 60); do # depends on timing
  app_tokens
  at_once -d grant_type=refresh_token -d "refresh_token=$refresh"
  ((won > 1)) && break
done
((won > 1))
check '2 or more of 8 uses of a refresh token had tokens'
