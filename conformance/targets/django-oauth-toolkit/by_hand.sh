# Findings of RESULTS.md in Django OAuth Toolkit, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
port=$(free_port)
base=http://127.0.0.1:$port
serve "$base/" /usr/bin/python3 server.py "$port"
cd "$work" || exit 2 # so that the cookie file has a short name

token=$base/o/token/
revoke=$base/o/revoke_token/
introspect=$base/o/introspect/
callback=https://app.example/callback # of the public client "app"
web=https://web.example/callback      # of the confidential client "web"
web_secret=web-secret-Kf84jsPq0xTz2m
two_secret=web-two-secret-n7Yw3LrBv

# uri TEXT: URL-encodes it. s256 VERIFIER: prints its challenge. field NAME: prints the member of the JSON response.
uri() { jq -rn --arg x "$1" '$x | @uri'; }
s256() { printf %s "$1" | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '=\n'; }
field() { jq -r ".$1" <<< "$body"; }

# Default parameters of authorization requests; challenge=none leaves PKCE out.
response_type=code scope=profile state=xyz
verifier=a-verifier-of-forty-three-characters-or-more
challenge=$(s256 "$verifier")

# quiet COMMAND…: hides the output of a preparatory step.
quiet() { "$@" > /dev/null; }

# hidden: prints the hidden fields of the returned form, form-encoded.
hidden() {
  python3 -c 'import html, re, sys, urllib.parse
fields = re.findall(r"""type="hidden" name="(\w+)"(?: value="([^"]*)")?""", sys.stdin.read())
print(urllib.parse.urlencode([(name, html.unescape(value)) for name, value in fields]))' <<< "$body"
}

# page CLIENT REDIRECT_URI [MORE]: opens alice's consent page; MORE is appended to the query.
page() {
  url="$base/o/authorize/?response_type=$response_type&client_id=$1&redirect_uri=$(uri "$2")"
  url+="&scope=$(uri "$scope")&state=$(uri "$state")"
  [[ $challenge == none ]] || url+="&code_challenge_method=S256&code_challenge=$(uri "$challenge")"
  request "$url${3:-}" -b jar -c jar
}

# allow: submits the form of that page; sets code from the redirect.
allow() {
  request "$url" -b jar -c jar -d "$(hidden)" -d allow=Authorize
  code=$(grep -i '^location:' <<< "$head" | sed -n 's/.*[?&]code=\([^&]*\).*/\1/p')
}

# granted [CLIENT REDIRECT_URI]: gets a code from alice, by default for the public client.
granted() {
  quiet page "${1:-app}" "${2:-$callback}"
  quiet allow
}

# redeem [option…]: redeems the code as the public client. by_web [option…]: as the confidential one, by Basic with the
# credentials in basic.
redeem() {
  request "$token" -d grant_type=authorization_code -d "code=$code" -d "redirect_uri=$callback" -d client_id=app \
    -d "code_verifier=$verifier" "$@"
}
basic=web:$web_secret
by_web() {
  request "$token" -u "$basic" -d grant_type=authorization_code -d "code=$code" -d "redirect_uri=$web" \
    -d "code_verifier=$verifier" "$@"
}

# tokens: gets alice's access and refresh token for the public client. renew REFRESH_TOKEN [option…]: uses one.
tokens() {
  granted
  quiet redeem
  access=$(field access_token) refresh=$(field refresh_token)
}
renew() { request "$token" -d grant_type=refresh_token -d "refresh_token=$1" -d client_id=app "${@:2}"; }

# me [TOKEN]: requests the protected page, the library's ScopedProtectedResourceView.
me() { request "$base/me" ${1:+-H "authorization: Bearer $1"}; }

quiet request "$base/accounts/login/" -c jar
request "$base/accounts/login/" -b jar -c jar -d "$(hidden)" -d username=alice -d password=wonderland
expect 302 sessionid=

# led CLIENT REDIRECT_URI PATTERN VECTOR: checks that alice's consent redirects to PATTERN with a code.
led() {
  page "$1" "$2"
  allow
  expect 302 "ocation: $3code=" "$4"
}

finding 'a query may be added to a redirect URI'
led app "$callback?next=https://evil.example" "$callback\?next=https(://|%3A%2F%2F)evil.example&" \
  redirect_uri/more-query
led native 'http://127.0.0.1:49731/callback?a=1' 'http://127.0.0.1:49731/callback\?a=1&' \
  best_practice/loopback-other-query

finding 'what follows a semicolon is not compared'
led app "$callback;x=1" "$callback;x=1\?" redirect_uri/path-parameter

finding 'capitals of the scheme and a bare `?` are forgiven'
# Both redirect to the registered URI itself.
led app HTTPS://app.example/callback "$callback\?" redirect_uri/scheme-in-capitals
led app "$callback?" "$callback\?" redirect_uri/question-mark

finding 'any client revokes any token'
tokens
request "$revoke" -d client_id=app-two -d "token=$refresh"
expect 200 '' revocation/of-another-client-is-refused
renew "$refresh"
expect 400 invalid_grant revocation/of-another-client
tokens
quiet me "$access"
expect 200 alice
request "$revoke" -d client_id=app-two -d "token=$access"
me "$access"
expect 403 '' revocation/access-token-of-another-client
tokens
request "$revoke" -u "web-two:$two_secret" -d "token=$refresh"
expect 200 ''
renew "$refresh"
expect 400 invalid_grant revocation/by-a-confidential-stranger

finding 'PKCE can be left out of a code'
# server.py requires PKCE of public clients; 1.7.0 by default requires it of no client.
challenge=none granted web "$web"
by_web
expect 200 access_token best_practice/verifier-without-challenge

finding 'the redirect URI may be left out of the token request'
challenge=none granted web "$web"
request "$token" -u "web:$web_secret" -d grant_type=authorization_code -d "code=$code"
expect 200 access_token code/redirect-uri-left-out
# A missing one counts as the first registered URI: a code for another one is refused.
challenge=none granted web "$web?next=https://evil.example"
request "$token" -u "web:$web_secret" -d grant_type=authorization_code -d "code=$code"
expect 400 invalid_request
granted two-uris https://two.example/second
request "$token" -d grant_type=authorization_code -d "code=$code" -d client_id=two-uris -d "code_verifier=$verifier"
expect 400 invalid_request

finding 'two ways to authenticate at once'
for more in "web $web_secret two-methods" "web wrong two-methods-one-wrong" \
  "web-two $two_secret two-methods-of-two-clients"; do
  read -r id secret vector <<< "$more"
  granted web "$web"
  by_web -d "client_id=$id" -d "client_secret=$secret"
  expect 200 access_token "client_authentication/$vector"
done
granted web "$web"
by_web -d client_id=web-two
expect 200 access_token client_authentication/two-names

finding 'a refresh token is narrowed for good'
scope='profile read' granted
quiet redeem
expect 200 '"scope": "profile read"'
renew "$(field refresh_token)" -d scope=profile
expect 200 '"scope": "profile"'
renew "$(field refresh_token)" -d 'scope=profile read'
expect 400 invalid_scope refresh/less-scope-once

finding 'replay of a refresh token ends nothing'
tokens
first=$refresh
quiet renew "$first"
renew "$(field refresh_token)"
access=$(field access_token) refresh=$(field refresh_token)
renew "$first"
expect 400 invalid_grant
me "$access"
expect 200 alice refresh/reuse-ends-access
renew "$refresh"
expect 200 access_token refresh/reuse-ends-the-family
tokens
first=$refresh
quiet renew "$first"
refresh=$(field refresh_token)
request "$base/control/advance" -d '{"seconds":3600}'
renew "$first"
expect 400 invalid_grant
renew "$refresh"
expect 200 access_token refresh/late-reuse

finding 'protected views answer 403 without a challenge'
# unchallenged VECTOR…: checks that the last response is 403 without a challenge.
unchallenged() {
  expect 403 ''
  expect_no '[Ww]{3}-[Aa]uthenticate' "$@"
}
granted
other_code=$code
tokens
me "$access"
expect 200 alice
me
unchallenged bearer/nothing-sent bearer/nothing-sent-says-no-error
while read -r vector wrong_token; do
  me "$wrong_token"
  unchallenged "bearer/$vector"
done << END
unknown $(s256 unknown)
unknown-is-told $(s256 'unknown too')
altered $(tr 'A-Za-z0-9' 'B-ZAb-za1-90' <<< "${access:0:1}")${access:1}
prolonged ${access}A
token-with-a-blank $access x
token-with-a-comma $access,x
token-in-quotes "$access"
token-as-parameter token=$access
is-a-refresh-token $refresh
is-a-code $other_code
END
request "$base/me" -H 'authorization: Bearer'
unchallenged bearer/scheme-alone
request "$base/me" -u "$access:$access"
unchallenged bearer/other-scheme
request "$base/admin" -H "authorization: Bearer $access"
unchallenged bearer/insufficient-scope
quiet request "$revoke" -d client_id=app -d "token=$access"
me "$access"
unchallenged bearer/revoked
tokens
request "$base/control/advance" -d '{"seconds":36001}'
me "$access"
unchallenged bearer/expired bearer/expired-is-told

finding 'a client is challenged by `Bearer`'
granted web "$web"
# refused USER:SECRET VECTOR…: redeems the code as a client that fails authentication.
refused() {
  basic=$1 by_web
  expect 401 'WWW-Authenticate: Bearer error="invalid_client"' "${@:2}"
}
refused "web:not-$web_secret" client_authentication/secret-wrong
refused "web:${web_secret}A" client_authentication/secret-with-a-letter-more
refused "web:$two_secret" client_authentication/secret-of-another
refused no-such-client:x client_authentication/unknown-client-by-basic
request "$token" -u no-such-client:x -d grant_type=client_credentials
expect 401 'WWW-Authenticate: Bearer error="invalid_client"' client_credentials/unknown-client

finding '`basic` in small letters is no scheme'
pair=$(printf %s "web:$web_secret" | base64)
for scheme in basic bAsIc; do
  request "$token" -H "authorization: $scheme $pair" -d grant_type=authorization_code -d "code=$code" \
    -d "redirect_uri=$web" -d "code_verifier=$verifier"
  expect 401 invalid_client client_authentication/basic-in-any-case
done
by_web # the same in the usual case
expect 200 access_token

finding 'a query at the token endpoint is a server error'
granted
at="redirect_uri=$(uri "$callback")&client_id=app&code_verifier=$verifier"
request "$token?grant_type=authorization_code&code=$code&$at" -d ''
expect 500 'Server Error' token_endpoint/query
request "$token?code=$code" -d "grant_type=authorization_code&$at"
expect 500 'Server Error' token_endpoint/code-in-query
granted web "$web"
at="grant_type=authorization_code&code=$code&redirect_uri=$(uri "$web")&code_verifier=$verifier"
request "$token?client_id=web&client_secret=$web_secret" -d "$at"
expect 500 'Server Error' client_authentication/secret-in-query-is-told
request "$token?client_secret=$web_secret" -d "$at&client_id=web"
expect 500 'Server Error'
by_web # the code is still unused
expect 200 access_token

finding 'a refresh after the access token was revoked is a server error'
tokens
request "$revoke" -d client_id=app -d "token=$access"
expect 200 ''
renew "$refresh"
expect 500 'Server Error' revocation/access-token-leaves-refresh-token-known

finding 'a mismatched redirect URI is `invalid_request`'
granted two-uris https://two.example/first
request "$token" -d grant_type=authorization_code -d "code=$code" -d redirect_uri=https://two.example/second \
  -d client_id=two-uris -d "code_verifier=$verifier"
expect 400 '"invalid_request"' code/other-redirect-uri

finding 'blanks of `state` are lost'
state=' %&+' page app "$callback"
allow
expect 302 '[?&]state=%25%26%2B\s' authorize/state-from-appendix-b

finding 'parameters may come twice'
for pair in grant_type=authorization_code "redirect_uri=$callback" client_id=app "code_verifier=$verifier" code=; do
  granted
  [[ $pair != code= ]] || pair+=$code
  redeem -d "$pair"
  name=${pair%%=*}
  expect 200 access_token "token_endpoint/repeated-${name//_/-}"
done
granted
redeem -d code=x # the last one counts, so the reason of the refusal is another
expect 400 invalid_grant token_endpoint/repeated-unlike
right=$code
code=x redeem -d "code=$right"
expect 200 access_token token_endpoint/repeated-unlike
granted web "$web"
request "$token" -d grant_type=authorization_code -d "code=$code" -d "redirect_uri=$web" -d client_id=web \
  -d "code_verifier=$verifier" -d "client_secret=$web_secret" -d "client_secret=$web_secret"
expect 200 access_token token_endpoint/repeated-client-secret
request "$token" -u service:service-secret-Qz81mdRt -d grant_type=client_credentials -d scope=profile -d scope=profile
expect 200 access_token token_endpoint/repeated-scope
tokens
renew "$refresh" -d "refresh_token=$refresh"
expect 200 access_token token_endpoint/repeated-refresh-token
page app "$callback" "&code_challenge=$challenge"
expect 200 Authorize authorize/repeated-code-challenge
tokens
request "$revoke" -d client_id=app -d "token=$refresh" -d "token=$access"
expect 200 '' revocation/two-tokens

finding 'missing and empty parameters return another error'
granted
at="code=$code&redirect_uri=$(uri "$callback")&client_id=app&code_verifier=$verifier"
request "$token" -d "$at"
expect 400 unsupported_grant_type token_endpoint/grant-type-missing token_endpoint/error-status
request "$token" -d "grant_type=&$at"
expect 400 unsupported_grant_type token_endpoint/grant-type-empty
request "$token" -d ''
expect 400 unsupported_grant_type token_endpoint/empty-body
code='' redeem
expect 400 invalid_grant code/code-empty
renew ''
expect 400 invalid_grant refresh/empty
request "$introspect" -u "web:$web_secret" -d ''
expect 200 '"active": false' introspection/token-missing
request "$introspect" -u "web:$web_secret" -d token=
expect 200 '"active": false' introspection/token-empty
response_type='' page app "$callback"
expect 302 'error=unsupported_response_type' authorize/empty-response-type
page app ''
expect 400 'Invalid redirect URI' redirect_uri/empty-with-one
challenge='' page app "$callback"
expect 200 Authorize pkce/challenge-empty
quiet allow # a code that cannot be redeemed
redeem
expect 400 invalid_grant
challenge=none page app "$callback" # a missing one returns the right error
expect 302 'error=invalid_request'

finding 'who may not introspect gets 403'
tokens
request "$introspect" -u "web:$web_secret" -d "token=$access"
expect 200 '"active": true'
request "$introspect" -u "web:not-$web_secret" -d "token=$access"
unchallenged introspection/wrong-secret
request "$introspect" -d "token=$access"
unchallenged introspection/no-credentials-is-401
request "$introspect" -H "authorization: Bearer $(s256 unknown)" -d "token=$access"
unchallenged introspection/unknown-bearer-is-401

finding 'any verifier does'
letters=$(printf 'a%.0s' {1..129})
for more in "too-short ${letters:0:42}" "too-long $letters" \
  'with-odd-characters a-verifier+with/signs=of-base64-that-is-as-long-as-it-has-to-be' \
  'with-blank a verifier with blanks that is as long as it has to be'; do
  odd=${more#* }
  challenge=$(s256 "$odd") granted
  request "$token" -d grant_type=authorization_code -d "code=$code" -d "redirect_uri=$callback" -d client_id=app \
    --data-urlencode "code_verifier=$odd"
  expect 200 access_token "pkce/verifier-${more%% *}"
done
for more in "too-short ${letters:0:42}" "too-long $letters" "padded $challenge=" \
  'with-odd-characters E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM'; do
  challenge=${more#* } page app "$callback"
  expect 200 Authorize "pkce/challenge-${more%% *}"
done

finding 'a used code ends nothing'
tokens
redeem
expect 400 invalid_grant
me "$access"
expect 200 alice code/twice-then-access-token
renew "$refresh"
expect 200 access_token code/twice-then-refresh-token

finding 'small ones'
request "$base/o/authorize/?response_type=code&client_id=no-such-client" # without alice's cookies
expect 302 'ocation: /accounts/login/' authorize/client-id-checked-before-login
request "$base/o/authorize/?response_type=code&client_id=app&redirect_uri=https://evil.example/cb"
expect 302 'ocation: /accounts/login/' redirect_uri/checked-before-login
page asked https://asked.example/callback
expect_no '[Cc]ontent-[Ss]ecurity-[Pp]olicy' best_practice/page-says-who-may-frame-it
expect 200 'X-Frame-Options: DENY'
form=$(hidden)
# The form decides, not the page: another client and another scope than the user saw.
other=$(sed 's/client_id=asked/client_id=app-two/; s/redirect_uri=[^&]*/redirect_uri=https%3A%2F%2Fapp-two.example%2Fcallback/' <<< "$form")
request "$url" -b jar -d "$other" -d allow=Authorize
expect 302 'app-two.example/callback\?code=' consent/client-in-the-form
request "$url" -b jar -d "$(sed 's/scope=[^&]*/scope=profile+read/' <<< "$form")" -d allow=Authorize
expect 302 'callback\?code='
code=$(sed -n 's/.*[?&]code=\([^&]*\).*/\1/p' <<< "$head" | head -1)
request "$token" -d grant_type=authorization_code -d "code=$code" -d redirect_uri=https://asked.example/callback \
  -d client_id=asked -d "code_verifier=$verifier"
expect 200 '"scope": "profile read"' consent/scope-in-the-form
page asked https://asked.example/callback
form=$(hidden)
request "$url" -b jar -d "$form" -d allow=Authorize
expect 302 'callback\?code='
request "$url" -b jar -d "$form" -d allow=Authorize
expect 302 'callback\?code=' consent/twice
for copy in {1..8}; do
  curl --silent --max-time 20 --output /dev/null --write-out '%{redirect_url}\n' "$url" -b jar \
    -d "$form" -d allow=Authorize > "copy$copy" &
  copies[copy]=$!
done
wait "${copies[@]}"
(($(cat copy? | grep 'callback?code=' | sort -u | wc -l) >= 2))
check 'two or more of eight at once give a code of their own' consent/eight-at-once
page no-such-client "$callback"
expect 400 'X-Frame-Options: DENY'
expect_no '[Cc]ontent-[Ss]ecurity-[Pp]olicy' best_practice/error-says-who-may-frame-it
granted
at="grant_type=authorization_code&code=$code&redirect_uri=$(uri "$callback")&client_id=app&code_verifier=$verifier"
request "$token" -H 'content-type: Application/X-WWW-Form-URLEncoded' -d "$at"
expect 400 unsupported_grant_type token_endpoint/media-type-in-capitals
# A charset parameter is accepted.
request "$token" -H 'content-type: application/x-www-form-urlencoded; charset=UTF-8' -d "$at"
expect 200 '"expires_in": 36000' token_endpoint/granted-lifetime-of-an-hour
granted
request "$token" -F grant_type=authorization_code -F "code=$code" -F "redirect_uri=$callback" -F client_id=app \
  -F "code_verifier=$verifier"
expect 200 access_token token_endpoint/multipart
access=$(field access_token)
request "$base/me?access_token=$access" -H "authorization: Bearer $access"
expect 200 alice bearer/two-ways bearer/two-ways-is-malformed
request "$base/me?access_token=bad" -H "authorization: Bearer $access"
expect 200 alice bearer/two-ways-with-another
request "$base/me?access_token=$access"
expect 200 alice
expect_no '[Cc]ache-[Cc]ontrol' bearer/in-query-not-cached
granted web "$web"
quiet by_web
access=$(field access_token)
request "$introspect" -u "web:$web_secret" -d "token=$access"
expect 200 '"active": true'
expect_no '"aud"' bearer/audience
request "$introspect" -u "web:$web_secret" -H 'content-type: application/json' -d "{\"token\":\"$access\"}"
expect 200 '"active": false' introspection/json
