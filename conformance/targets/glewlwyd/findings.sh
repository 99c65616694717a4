# The findings, in the order of RESULTS.md. by_hand.sh sources this file and defines the functions that it uses.

finding 'a code is good for all who come at once'
# raced CLIENT FIELD: redeems a code eight times concurrently until several succeed; at most five tries, usually one is enough.
raced() {
  for _ in 1 2 3 4 5; do
    prepare_redemption "$@"
    at_once 8 "${sent[@]}"
    (($(count_different access_token) >= 2)) && break
  done
}
raced public ''
[[ $(count_different access_token) -ge 2 && $(count_different refresh_token) -ge 2 ]]
check '2 or more of 8 get tokens of their own' code/eight-at-once code/eight-at-once-are-answered
access=$(jq --raw-output 'select(.access_token).access_token' <<< "$many" | head -1)
show_token "Bearer $access"
expect 200 '"sub"'
like=(403 '"error":"invalid_code"')
row code/eight-at-once-then-again request "$issuer/token" "${sent[@]}"
for access in $(jq --raw-output .access_token <<< "$many" | grep --invert-match null); do
  show_token "Bearer $access"
  expect 401 "$empty_body"
done
raced confidential "$(my confidential)"
[[ $(count_different access_token) -ge 2 ]]
check '2 or more of 8' code/eight-at-once-of-a-confidential-client
for _ in 1 2 3 4 5; do
  code_of public
  first=$code
  prepare_redemption public ''
  mine=("${sent[@]}")
  code=$first
  prepare_redemption public '' "client_id=${id[public_other]}"
  rm -f "$work"/mine.* "$work"/other.*
  curl --silent --parallel --parallel-immediate --max-time 20 --output "$work/other.#1" "$issuer/token#[1-4]" "${sent[@]}" \
    --next --silent --max-time 20 --output "$work/mine.#1" "$issuer/token#[1-4]" "${mine[@]}" &> /dev/null
  served=$(cat "$work"/mine.* | grep --only-matching '"access_token"' | wc --lines)
  ((served >= 2)) && break
done
((served >= 2))
check '2 or more of the 4 of its owner' code/two-clients-at-once
! grep --quiet '"access_token"' "$work"/other.*
check 'none of the 4 of another client'

finding 'PKCE can be left out of a code'
code_of confidential -code_challenge -code_challenge_method
redeem confidential "$(my confidential)"
expect 200 '"access_token"' best_practice/verifier-without-challenge
opened public -code_challenge -code_challenge_method
expect 302 'https://app.example/callback\?.*error=invalid_request'

finding 'two ways to authenticate at once'
like=(200 '"access_token"')
for name in confidential other; do
  redeem confidential "$(my confidential)" "+client_id=${id[$name]}" "client_secret=${secret[$name]}"
  if [[ $name == other ]]; then vector=two-methods-of-two-clients; else vector=two-methods; fi
  expect "${like[@]}" "client_authentication/$vector"
done
row client_authentication/two-methods-one-wrong redeem confidential "$(my confidential)" "+client_id=${id[confidential]}" client_secret=wrong
row client_authentication/two-names redeem confidential "$(my confidential)" "+client_id=${id[other]}"
redeem confidential "$(basic "${id[confidential]}" wrong)" "+client_id=${id[confidential]}" "client_secret=${secret[confidential]}"
expect 403 unauthorized_client

finding '`invalid_grant` is called `invalid_code`, with status 403'
like=(403 '"error":"invalid_code"')
granted public
row code/is-a-refresh-token redeem public '' "code=$refresh"
row code/is-an-access-token redeem public '' "code=$access"
row code/unknown redeem public '' "code=$another"
code_of public && row code/altered redeem public '' "code=$(altered "$code")"
code_of public && row code/prolonged redeem public '' "code=${code}A"
code_of public && row code/with-a-blank redeem public '' "code=$code "
code_of public && row token_endpoint/plus-is-a-blank redeem public '' "^code=$code+"
row code/of-odd-characters redeem public '' "^code=$odd"
for vector in token_endpoint/refusal-has-no-tokens token_endpoint/error-media-type token_endpoint/error-not-cached; do
  row "$vector" redeem public '' code=x
done
code_of public
row code/of-another-public-client-with-its-uri redeem public_other ''
code_of two_uris
row code/other-redirect-uri redeem two_uris '' redirect_uri=https://two.example/second
row pkce/verifier-wrong redeem public '' "code_verifier=$another"
row pkce/verifier-altered redeem public '' "code_verifier=$(altered "$verifier")"
row pkce/verifier-is-challenge redeem public '' "code_verifier=$challenge"
row pkce/method-in-token-request redeem public '' "code_verifier=$challenge" code_challenge_method=plain
row pkce/challenge-in-token-request redeem public '' "code_verifier=$another" "code_challenge=$(challenge_of "$another")" code_challenge_method=S256
row pkce/verifier-missing redeem public '' -code_verifier
row pkce/verifier-empty redeem public '' code_verifier=
row pkce/verifier-missing-with-secret redeem confidential "$(my confidential)" -code_verifier
row best_practice/challenge-then-no-verifier redeem confidential "$(my confidential)" -code_verifier
row pkce/verifier-wrong-with-secret redeem confidential "$(my confidential)" "code_verifier=$another"
code_of public "code_challenge=$(challenge_of "$another")"
later=$code
code=''
row pkce/verifier-of-another-request redeem public '' "code_verifier=$another"
code=$later
redeem public '' "code_verifier=$another"
expect 200 '"access_token"'
# Malformed verifiers, with their challenge.
for pair in "too-short|${verifier:0:42}" "too-long|$verifier${verifier}x" "with-odd-characters|a-verifier+with/signs=of-base64-that-is-as-long-as-it-has-to-be" \
  'with-blank|a verifier with blanks that is as long as it has to be'; do
  code_of public "code_challenge=$(challenge_of "${pair#*|}")"
  row "pkce/verifier-${pair%%|*}" redeem public '' "code_verifier=${pair#*|}"
done
# Apart from the error code the behaviour is right: the second use revokes the tokens of the first.
code_of public
first=$code
redeem public ''
expect 200 '"access_token"'
read_tokens
code=$first
redeem public ''
expect "${like[@]}" code/twice
show_token "Bearer $access"
expect 401 "$empty_body"
tokens '' grant_type=refresh_token "refresh_token=$refresh" client_id=app
expect 400 "$empty_body"

finding 'what does not belong to the code returns `unauthorized_client`'
like=(403 '"error":"unauthorized_client"')
row code/of-another-public-client redeem public '' client_id=app-two
code_of public
row code/of-a-public-client-by-a-confidential-one redeem public "$(my confidential)"
row code/of-another-confidential-client redeem confidential "$(my other)"
row code/of-a-confidential-client-by-name redeem confidential "$(my other)" +client_id=web
row code/redirect-uri-with-slash redeem public '' "redirect_uri=${uri[public]}/"
row code/redirect-uri-with-query redeem public '' "redirect_uri=${uri[public]}?x=1"
row code/redirect-uri-with-fragment redeem public '' "redirect_uri=${uri[public]}#"
row code/redirect-uri-elsewhere redeem public '' redirect_uri=https://evil.example/cb
row code/scheme-in-capitals redeem public '' redirect_uri=HTTPS://app.example/callback
row client_credentials/other-grants tokens "$(my service)" grant_type=authorization_code code=x redirect_uri=https://x.example/

finding 'status 400 without a body'
like=(400 "$empty_body")
row code/code-missing redeem public '' -code
row code/code-empty redeem public '' code=
row code/client-id-missing redeem public '' -client_id
row code/client-id-empty redeem public '' client_id=
code_of confidential -code_challenge -code_challenge_method
row code/redirect-uri-left-out redeem confidential "$(my confidential)" -redirect_uri -code_verifier
code_of public
row token_endpoint/bracketed-names redeem public '' -code "^code%5B%5D=$code"
row token_endpoint/bracketed-names redeem public '' -code '^code%5B%24ne%5D='
row token_endpoint/grant-type-missing redeem public '' -grant_type
row token_endpoint/error-status redeem public '' -grant_type
row token_endpoint/error-status redeem public '' grant_type=x
row token_endpoint/grant-type-empty redeem public '' grant_type=
row token_endpoint/grant-type-unknown redeem public '' grant_type=x-nonsense
row token_endpoint/grant-type-uri redeem public '' grant_type=urn:example:grant-type:nonsense
row token_endpoint/grant-type-in-other-case redeem public '' grant_type=Authorization_Code
row token_endpoint/grant-type-prototype redeem public '' grant_type=__proto__
row token_endpoint/grant-type-inherited redeem public '' grant_type=toString
row token_endpoint/error-characters redeem public '' '^grant_type=%22%5C%3Cb%3E%C3%A9%E2%80%A8%0D%0A%07'
row token_endpoint/empty-body tokens ''
granted confidential
for pair in 'basic-without-colon|Basic e30=' 'basic-not-base64|Basic ***' 'basic-empty|Basic' 'other-scheme|Digest username="x"' "bearer-as-client|Bearer $access"; do
  row "client_authentication/${pair%%|*}" redeem confidential "${pair#*|}"
done
row introspection/token-missing introspect "$(my confidential)"
row introspection/token-empty introspect "$(my confidential)" token=
granted public
# renewed FIELD NAME=VALUE…: sends a refresh request.
renewed() { tokens "$1" grant_type=refresh_token "${@:2}"; }
row refresh/missing renewed '' client_id=app
row refresh/empty renewed '' client_id=app refresh_token=
row refresh/unknown renewed '' client_id=app "refresh_token=$another"
row refresh/altered renewed '' client_id=app "refresh_token=$(altered "$refresh")"
row refresh/prolonged renewed '' client_id=app "refresh_token=${refresh}A"
row refresh/of-odd-characters renewed '' client_id=app "^refresh_token=$odd"
row refresh/is-an-access-token renewed '' client_id=app "refresh_token=$access"
code_of public
row refresh/is-a-code renewed '' client_id=app "refresh_token=$code"
code=''
row refresh/of-another-public-client renewed '' client_id=app-two "refresh_token=$refresh"
granted public
row refresh/of-a-public-client-by-a-confidential-one renewed "$(my confidential)" "refresh_token=$refresh"
granted confidential
row refresh/of-another-confidential-client renewed "$(my other)" "refresh_token=$refresh"
granted confidential
row refresh/by-a-public-client-s-name renewed '' client_id=app "refresh_token=$refresh"
granted confidential
row refresh/without-client renewed '' "refresh_token=$refresh"
granted confidential
renewed '' client_id=web "refresh_token=$refresh"
expect "${like[@]}"
granted confidential
renewed "$(basic web "not-${secret[confidential]}")" "refresh_token=$refresh"
expect "${like[@]}"
granted public
renewed '' client_id=app "refresh_token=$refresh" scope=write
expect 200 '"scope":"read"'
row refresh/more-scope renewed '' client_id=app "refresh_token=$refresh"
granted public
first=$refresh
renewed '' client_id=app "refresh_token=$first" && read_tokens
renewed '' client_id=app "refresh_token=$refresh" && read_tokens
row refresh/old-one-refused renewed '' client_id=app "refresh_token=$first"
renewed '' client_id=app "refresh_token=$refresh" # the family is revoked, as required
expect "${like[@]}"

finding 'a client that fails gets `unauthorized_client`'
like=(403 '"error":"unauthorized_client"')
key=${secret[confidential]}
row client_authentication/secret-missing redeem confidential ''
row client_authentication/secret-empty redeem confidential '' client_secret=
row client_authentication/secret-wrong-in-body redeem confidential '' "client_secret=not-$key"
redeem confidential '' "client_secret=$key"
expect 200 '"access_token"'
for pair in secret-empty-by-basic= "secret-wrong=not-$key" "secret-with-a-letter-more=${key}A" "secret-of-another=${secret[other]}"; do
  row "client_authentication/${pair%%=*}" redeem confidential "$(basic web "${pair#*=}")"
  expect_no '[Ww][Ww][Ww]-[Aa]uthenticate'
done
code_of confidential
first=$code
row client_authentication/secret-wrong-then-right redeem confidential "$(basic web "not-$key")"
code=$first
row client_authentication/secret-wrong-then-right redeem confidential ''
code_of confidential
row client_authentication/unknown-client redeem confidential '' client_id=no-such-client-5fd1
code_of confidential
row client_authentication/unknown-client-by-basic redeem confidential "$(basic no-such-client-5fd1 x)"
row client_authentication/basic-not-utf-8 redeem confidential 'Basic //79OnA='

finding 'refusals of a grant are 403 without a body'
like=(403 "$empty_body")
# machine FIELD NAME=VALUE…: sends a client_credentials request. Each is refused with and without a scope.
machine() { tokens "$1" grant_type=client_credentials "${@:2}"; }
for scope in '' scope=read; do
  row client_credentials/wrong-secret machine "$(basic service "not-${secret[service]}")" $scope
  row client_credentials/unknown-client machine "$(basic no-such-client-5fd1 x)" $scope
  row client_credentials/name-alone machine '' client_id=service $scope
  row client_credentials/nobody machine '' $scope
  row client_credentials/public-client machine '' client_id=app $scope
  row client_credentials/public-client-with-an-empty-secret machine '' client_id=app client_secret= $scope
  row client_credentials/public-client-with-an-empty-secret machine "$(basic app '')" $scope
  row client_authentication/public-with-a-secret machine '' client_id=app client_secret=invented $scope
  row client_authentication/public-by-basic machine "$(basic app invented)" $scope
done
row password/not-offered tokens "$(my confidential)" grant_type=password username=alice password=wonderland

finding 'the client credentials grant needs a scope'
row client_credentials/scope-left-out machine "$(my service)"
machine '' client_id=odd "client_secret=${secret[odd_secret]}"
expect "${like[@]}"
# With a scope it returns a token.
machine "$(my service)" scope=read
expect 200 '[Nn]o-[Ss]tore.*"access_token"'
expect_no '"refresh_token"'
introspect "$(my service)" "token=$(jq --raw-output .access_token <<< "$body")"
expect_no '"username":"(alice|bob)"'
machine '' client_id=odd "client_secret=${secret[odd_secret]}" scope=read
expect 200 '"access_token"'

finding '`invalid_scope` is called `scope_invalid`, and `unauthorized_client` `authorization_type_invalid`'
like=(400 '"error":"scope_invalid"')
row client_credentials/scope-beyond machine "$(my service)" scope=admin
for scope in $'a"b' $'a\\b' $'a\ab' $'\u00e9'; do row client_credentials/scope-malformed machine "$(my service)" "scope=$scope"; done
machine "$(my code_only)" scope=read
expect 400 '"error":"authorization_type_invalid"' client_credentials/not-registered-for-it

finding 'Basic is not form-decoded'
plain=${secret[odd_secret]}
coded=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote_plus(sys.argv[1]))' "$plain")
like=(403 "$empty_body")
row client_authentication/odd-secret machine "$(basic odd "$coded")" scope=read
machine "$(basic odd "$plain")" scope=read
expect 200 '"access_token"'

finding 'names that may be in any case are read in one'
field=$(my confidential)
redeem confidential "bAsIc${field#Basic}"
expect 400 "$empty_body" client_authentication/basic-in-any-case
granted public
for scheme in bearer BEARER; do
  show_token "$scheme $access"
  expect 401 "$empty_body" bearer/scheme-in-any-case
done
prepare_redemption public ''
request "$issuer/token" "${sent[@]}" --header 'Content-Type: Application/X-WWW-Form-URLEncoded'
expect 400 "$empty_body" token_endpoint/media-type-in-capitals
request "$issuer/token" "${sent[@]}" --header 'Content-Type: application/x-www-form-urlencoded; charset=UTF-8'
expect 200 '"access_token"'

finding 'ids of clients are compared without case'
tokens "$(basic SERVICE "${secret[service]}")" grant_type=client_credentials scope=read
expect 200 '"access_token"' letter_case/client-id-by-basic
introspect "$(basic WEB "${secret[confidential]}")" token=any
expect 200 '"active":false' letter_case/introspecting-client

finding 'parameters that come twice are joined'
like=(403 '"error":"invalid_code"')
code_of public && row token_endpoint/repeated-code redeem public '' "+code=$code"
row token_endpoint/repeated-unlike redeem public '' +code=x
code_of public && row token_endpoint/repeated-unlike redeem public '' code=x "+code=$code"
row token_endpoint/repeated-code-verifier redeem public '' "+code_verifier=$verifier"
like=(403 '"error":"unauthorized_client"')
row token_endpoint/repeated-redirect-uri redeem public '' "+redirect_uri=${uri[public]}"
row token_endpoint/repeated-client-id redeem public '' +client_id=app
row token_endpoint/repeated-client-secret redeem confidential '' "client_secret=$key" "+client_secret=$key"
like=(400 "$empty_body")
row token_endpoint/repeated-grant-type redeem public '' +grant_type=authorization_code
granted public
row token_endpoint/repeated-refresh-token renewed '' client_id=app "refresh_token=$refresh" "+refresh_token=$refresh"
like=(400 '"error":"scope_invalid"')
row token_endpoint/repeated-scope machine "$(my service)" scope=read +scope=read
like=(302 'callback\?.*error=unsupported_response_type')
row authorize/repeated-response-type opened public +response_type=code
row authorize/repeated-unlike opened public +response_type=token
like=(302 '/login.html\?client_id=app&scope=read,read&')
row authorize/repeated-scope opened public +scope=read
row issuer/repeated-parameter opened public +scope=read
opened public +scope=read g_continue=
expect 302 'callback\?.*error=invalid_scope'
opened public +state=other
expect 302 '/login.html\?' authorize/repeated-state
opened public +state=other g_continue=
expect 302 'callback\?.*state=xyz,other&code='

finding 'errors about `response_type` stand in the fragment'
like=(302 'callback#iss=.*&state=xyz&error=unsupported_response_type')
row authorize/response-type-unknown opened public response_type=x-nonsense
row authorize/response-type-in-other-case opened public response_type=Code
row issuer/unknown-response-type opened public response_type=no_such_type
like=(302 'callback#iss=.*&error=unsupported_response_type')
row authorize/error-keeps-state opened public response_type=x-nonsense $'state= %&+"\'<>=;#'
row authorize/error-without-state opened public response_type=x-nonsense -state
opened public response_type=
expect 302 'callback#iss=.*&state=xyz&error=invalid_request' authorize/empty-response-type
opened with_query response_type=x-nonsense
expect 302 'https://query.example/callback\?app=1#iss=.*error=unsupported' redirect_uri/query-is-kept

finding 'no challenge at UserInfo and introspection'
# bare VECTOR COMMAND…: checks that the response is 401 without a challenge.
bare() {
  "${@:2}"
  [[ $status == 401 && ! ${head,,} =~ www-authenticate ]]
  check '401, no WWW-Authenticate' "$1"
}
granted public
bare bearer/nothing-sent request "$issuer/userinfo"
bare bearer/nothing-sent-says-no-error request "$issuer/userinfo"
bare bearer/in-query-refused request "$issuer/userinfo?access_token=$access"
bare bearer/unknown show_token "Bearer $another"
bare bearer/unknown-is-told show_token "Bearer $another"
bare bearer/altered show_token "Bearer $(altered "$access")"
bare bearer/prolonged show_token "Bearer ${access}A"
bare bearer/is-a-refresh-token show_token "Bearer $refresh"
code_of public
bare bearer/is-a-code show_token "Bearer $code"
code=''
bare bearer/other-scheme show_token "$(basic "$access" "$access")"
bare bearer/scheme-alone show_token Bearer
bare bearer/token-with-a-blank show_token "Bearer $access x"
bare bearer/token-with-a-comma show_token "Bearer $access,x"
bare bearer/token-in-quotes show_token "Bearer \"$access\""
bare bearer/token-as-parameter show_token "Bearer token=$access"
show_token "Bearer $access"
expect 200 '"sub"'
bare introspection/wrong-secret introspect "$(basic web "not-$key")" "token=$access"
bare introspection/no-credentials-is-401 introspect '' "token=$access"
bare introspection/unknown-bearer-is-401 introspect "Bearer $another" "token=$access"

finding 'every answer may be read by any site'
question public
request "$issuer/auth" --get --cookie "$work/jar" --header 'Origin: https://spa.example' "${sent[@]}"
expect 302 'Access-Control-Allow-Origin: \*' best_practice/no-cors-where-users-are
request "$issuer/auth" --request OPTIONS --header 'Origin: https://spa.example' --header 'Access-Control-Request-Method: GET'
expect 200 'Access-Control-Allow-Origin: \*' best_practice/no-cors-where-users-are
question public client_id=no-such-client-5fd1
request "$issuer/auth" --get --header 'Origin: https://spa.example' "${sent[@]}"
expect 403 'Access-Control-Allow-Origin: \*' best_practice/no-cors-for-an-error

finding 'a hint is taken for the kind of token'
granted confidential
field=$(my confidential)
introspect "$field" "token=$access"
expect 200 '"active":true'
introspect "$field" "token=$refresh" token_type_hint=refresh_token
expect 200 '"active":true'
like=(200 '"active":false')
row introspection/hint-wrong introspect "$field" "token=$access" token_type_hint=refresh_token
row introspection/hint-unknown introspect "$field" "token=$access" token_type_hint=no_such_type
row introspection/refresh-token-called-access-token introspect "$field" "token=$refresh" token_type_hint=access_token

finding 'the port of a loopback redirect URI counts'
opened loopback redirect_uri=http://127.0.0.1:49731/callback g_continue=
expect 403 "$empty_body" best_practice/loopback-any-port
opened loopback g_continue=
expect 302 'http://127.0.0.1/callback\?.*code='

finding 'a refresh token for whom none is registered, which is good for nothing'
redeem code_only "$(my code_only)"
expect 200 '"refresh_token"' best_practice/no-refresh-token-without-the-grant
read_tokens
renewed "$(my code_only)" "refresh_token=$refresh"
expect 400 "$empty_body"

finding 'the scope of a refresh is not looked at'
granted public 'scope=read write'
renewed '' client_id=app "refresh_token=$refresh" scope=read
expect 200 '"scope":"read write"' refresh/less-scope
read_tokens
renewed '' client_id=app "refresh_token=$refresh" scope=no-such-scope-5fd1
expect 200 '"scope":"read write"' refresh/refused-scope-spends-nothing

finding 'a refused refresh consumes the refresh token'
# ended VECTOR…: checks that the token's own client can no longer use it.
ended() {
  renewed "$(my confidential)" "refresh_token=$refresh"
  expect 400 "$empty_body" "$@"
}
granted confidential
renewed '' client_id=web "refresh_token=$refresh"
ended refresh/without-secret
granted confidential
renewed "$(basic web "not-$key")" "refresh_token=$refresh"
ended refresh/wrong-secret
granted confidential
renewed "$(my other)" "refresh_token=$refresh"
ended
granted confidential
renewed "$(my confidential)" "refresh_token=$refresh" # without a refusal before, it is valid
expect 200 '"refresh_token"'

finding 'a refresh token is now and then good for several who come at once'
# About one try in five succeeds: tries for at most 60 rounds or 45 seconds.
for client in public confidential; do
  SECONDS=0
  for _ in $(seq 60); do
    ((SECONDS < 45)) || break
    granted "$client"
    form grant_type=refresh_token "refresh_token=$refresh" client_id= -- "client_id=${id[$client]}"
    if [[ $client == confidential ]]; then
      form grant_type=refresh_token "refresh_token=$refresh" --
      sent+=(--header "Authorization: $(my confidential)")
    fi
    at_once 8 "${sent[@]}"
    [[ $(count_different refresh_token) -ge 2 ]] && break
  done
  vector=refresh/eight-at-once
  [[ $client == confidential ]] && vector=refresh/eight-at-once-of-a-confidential-client
  [[ $(count_different refresh_token) -ge 2 ]]
  check '2 or more of 8 get refresh tokens of their own' "$vector"
done

finding 'errors say little'
opened public client_id=no-such-client-5fd1
expect 403 "$empty_body" authorize/client-id-unknown-is-told
opened public redirect_uri=https://evil.example/cb
expect 403 "$empty_body" redirect_uri/wrong-is-told
opened public -code_challenge -code_challenge_method
expect 302 'error=invalid_request'
expect_no error_description pkce/challenge-missing-is-explained
opened public code_challenge_method=S512
expect 302 'error=invalid_request'
expect_no error_description pkce/method-unknown-is-explained
question public client_id=no-such-client-5fd1
request "$issuer/auth" --get "${sent[@]}"
expect 403 'X-Frame-Options: deny'
expect_no '[Cc]ontent-[Ss]ecurity-[Pp]olicy' best_practice/error-says-who-may-frame-it

finding 'what is too much is not looked at'
granted public
for more in "$access|bearer/two-ways" "$access|bearer/two-ways-is-malformed" 'bad|bearer/two-ways-with-another'; do
  request "$issuer/userinfo?access_token=${more%|*}" --header "Authorization: Bearer $access"
  expect 200 '"sub"' "${more#*|}"
done
prepare_redemption public ''
request "$issuer/token" "${sent[@]}" --header 'Content-Type: application/x-www-form-urlencoded-x'
expect 200 '"access_token"' token_endpoint/media-type-alike

finding '`redirect_uri` is required'
opened public -redirect_uri g_continue=
expect 403 'Invalid request' redirect_uri/omitted-with-one
opened public redirect_uri= g_continue=
expect 403 'Invalid request' redirect_uri/empty-with-one

finding 'what ends a family of refresh tokens leaves access tokens as they are'
granted public
first=$refresh
renewed '' client_id=app "refresh_token=$first" && read_tokens
renewed '' client_id=app "refresh_token=$refresh" && read_tokens
renewed '' client_id=app "refresh_token=$first"
expect 400 "$empty_body"
show_token "Bearer $access"
expect 200 '"sub"' refresh/reuse-ends-access

finding 'the page comes first'
for pair in issuer/unknown-scope=no-such-scope-41d0 scope/in-capitals=READ scope/with-quote=a%22b 'scope/with-backslash=a%5Cb' \
  scope/with-control-character=a%07b scope/with-line-end=a%0D%0Ab scope/with-beyond-ascii=%C3%A9 scope/with-tab=read%09write; do
  opened public "^scope=${pair#*=}"
  expect 302 '/login.html\?' "${pair%%=*}"
  opened public "^scope=${pair#*=}" g_continue=
  expect 302 'app.example/callback\?iss=.*&error=invalid_scope'
done
for pair in 'not-from-x-forwarded-host|X-Forwarded-Host: evil.example' 'not-from-forwarded|Forwarded: host=evil.example;proto=http'; do
  question public scope=no-such-scope-41d0
  request "$issuer/auth" --get --cookie "$work/jar" --header "${pair#*|}" "${sent[@]}"
  expect 302 "http://127.0.0.1:$port/login.html\?" "issuer/${pair%%|*}"
  request "$issuer/auth" --get --cookie "$work/jar" --header "${pair#*|}" "${sent[@]}" --data g_continue=
  expect 302 "callback\?iss=http%3A%2F%2F127.0.0.1%3A$port%2Fapi%2Fglwd&.*error=invalid_scope"
done
opened public code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM
expect 302 '/login.html\?' pkce/challenge-with-odd-characters
