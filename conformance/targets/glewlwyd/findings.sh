# What by_hand.sh asks, in the order of RESULTS.md; it sources this file, and has the words that are used here.

finding 'a code is good for all who come at once'
# raced CLIENT FIELD: a code eight times at once, until several are served; five tries at most, though one is nearly always enough.
raced() {
  for _ in 1 2 3 4 5; do
    bill "$@"
    at_once 8 "${sent[@]}"
    (($(unlike access_token) >= 2)) && break
  done
}
raced public ''
[[ $(unlike access_token) -ge 2 && $(unlike refresh_token) -ge 2 ]]
proven '2 or more of 8 get tokens of their own' code/eight-at-once code/eight-at-once-are-answered
access=$(jq --raw-output 'select(.access_token).access_token' <<< "$many" | head -1)
shown "Bearer $access"
told 200 '"sub"'
like=(403 '"error":"invalid_code"')
row code/eight-at-once-then-again ask "$issuer/token" "${sent[@]}"
for access in $(jq --raw-output .access_token <<< "$many" | grep --invert-match null); do
  shown "Bearer $access"
  told 401 "$nobody"
done
raced confidential "$(my confidential)"
[[ $(unlike access_token) -ge 2 ]]
proven '2 or more of 8' code/eight-at-once-of-a-confidential-client
for _ in 1 2 3 4 5; do
  code_of public
  first=$code
  bill public ''
  mine=("${sent[@]}")
  code=$first
  bill public '' "client_id=${id[public_other]}"
  rm -f "$work"/mine.* "$work"/other.*
  curl --silent --parallel --parallel-immediate --max-time 20 --output "$work/other.#1" "$issuer/token#[1-4]" "${sent[@]}" \
    --next --silent --max-time 20 --output "$work/mine.#1" "$issuer/token#[1-4]" "${mine[@]}" &> /dev/null
  served=$(cat "$work"/mine.* | grep --only-matching '"access_token"' | wc --lines)
  ((served >= 2)) && break
done
((served >= 2))
proven '2 or more of the 4 of its owner' code/two-clients-at-once
! grep --quiet '"access_token"' "$work"/other.*
proven 'none of the 4 of another client'

finding 'PKCE can be left out of a code'
code_of confidential -code_challenge -code_challenge_method
spend confidential "$(my confidential)"
told 200 '"access_token"' best_practice/verifier-without-challenge
opened public -code_challenge -code_challenge_method
told 302 'https://app.example/callback\?.*error=invalid_request'

finding 'two ways to authenticate at once'
like=(200 '"access_token"')
for name in confidential other; do
  spend confidential "$(my confidential)" "+client_id=${id[$name]}" "client_secret=${secret[$name]}"
  if [[ $name == other ]]; then vector=two-methods-of-two-clients; else vector=two-methods; fi
  told "${like[@]}" "client_authentication/$vector"
done
row client_authentication/two-methods-one-wrong spend confidential "$(my confidential)" "+client_id=${id[confidential]}" client_secret=wrong
row client_authentication/two-names spend confidential "$(my confidential)" "+client_id=${id[other]}"
spend confidential "$(basic "${id[confidential]}" wrong)" "+client_id=${id[confidential]}" "client_secret=${secret[confidential]}"
told 403 unauthorized_client

finding '`invalid_grant` is called `invalid_code`, with status 403'
like=(403 '"error":"invalid_code"')
granted public
row code/is-a-refresh-token spend public '' "code=$refresh"
row code/is-an-access-token spend public '' "code=$access"
row code/unknown spend public '' "code=$another"
code_of public && row code/altered spend public '' "code=$(altered "$code")"
code_of public && row code/prolonged spend public '' "code=${code}A"
code_of public && row code/with-a-blank spend public '' "code=$code "
code_of public && row token_endpoint/plus-is-a-blank spend public '' "^code=$code+"
row code/of-odd-characters spend public '' "^code=$odd"
for vector in token_endpoint/refusal-has-no-tokens token_endpoint/error-media-type token_endpoint/error-not-cached; do
  row "$vector" spend public '' code=x
done
code_of public
row code/of-another-public-client-with-its-uri spend public_other ''
code_of two_uris
row code/other-redirect-uri spend two_uris '' redirect_uri=https://two.example/second
row pkce/verifier-wrong spend public '' "code_verifier=$another"
row pkce/verifier-altered spend public '' "code_verifier=$(altered "$verifier")"
row pkce/verifier-is-challenge spend public '' "code_verifier=$challenge"
row pkce/method-in-token-request spend public '' "code_verifier=$challenge" code_challenge_method=plain
row pkce/challenge-in-token-request spend public '' "code_verifier=$another" "code_challenge=$(challenge_of "$another")" code_challenge_method=S256
row pkce/verifier-missing spend public '' -code_verifier
row pkce/verifier-empty spend public '' code_verifier=
row pkce/verifier-missing-with-secret spend confidential "$(my confidential)" -code_verifier
row best_practice/challenge-then-no-verifier spend confidential "$(my confidential)" -code_verifier
row pkce/verifier-wrong-with-secret spend confidential "$(my confidential)" "code_verifier=$another"
code_of public "code_challenge=$(challenge_of "$another")"
later=$code
code=''
row pkce/verifier-of-another-request spend public '' "code_verifier=$another"
code=$later
spend public '' "code_verifier=$another"
told 200 '"access_token"'
# Verifiers that are not of the document's form, with the challenge that belongs to them.
for pair in "too-short|${verifier:0:42}" "too-long|$verifier${verifier}x" "with-odd-characters|a-verifier+with/signs=of-base64-that-is-as-long-as-it-has-to-be" \
  'with-blank|a verifier with blanks that is as long as it has to be'; do
  code_of public "code_challenge=$(challenge_of "${pair#*|}")"
  row "pkce/verifier-${pair%%|*}" spend public '' "code_verifier=${pair#*|}"
done
# Behind the wrong error the rest is as it should be: who comes second takes back what the first got.
code_of public
first=$code
spend public ''
told 200 '"access_token"'
kept
code=$first
spend public ''
told "${like[@]}" code/twice
shown "Bearer $access"
told 401 "$nobody"
tokens '' grant_type=refresh_token "refresh_token=$refresh" client_id=app
told 400 "$nobody"

finding 'what does not belong to the code is told as `unauthorized_client`'
like=(403 '"error":"unauthorized_client"')
row code/of-another-public-client spend public '' client_id=app-two
code_of public
row code/of-a-public-client-by-a-confidential-one spend public "$(my confidential)"
row code/of-another-confidential-client spend confidential "$(my other)"
row code/of-a-confidential-client-by-name spend confidential "$(my other)" +client_id=web
row code/redirect-uri-with-slash spend public '' "redirect_uri=${uri[public]}/"
row code/redirect-uri-with-query spend public '' "redirect_uri=${uri[public]}?x=1"
row code/redirect-uri-with-fragment spend public '' "redirect_uri=${uri[public]}#"
row code/redirect-uri-elsewhere spend public '' redirect_uri=https://evil.example/cb
row code/scheme-in-capitals spend public '' redirect_uri=HTTPS://app.example/callback
row client_credentials/other-grants tokens "$(my service)" grant_type=authorization_code code=x redirect_uri=https://x.example/

finding 'status 400 without a body'
like=(400 "$nobody")
row code/code-missing spend public '' -code
row code/code-empty spend public '' code=
row code/client-id-missing spend public '' -client_id
row code/client-id-empty spend public '' client_id=
code_of confidential -code_challenge -code_challenge_method
row code/redirect-uri-left-out spend confidential "$(my confidential)" -redirect_uri -code_verifier
code_of public
row token_endpoint/bracketed-names spend public '' -code "^code%5B%5D=$code"
row token_endpoint/bracketed-names spend public '' -code '^code%5B%24ne%5D='
row token_endpoint/grant-type-missing spend public '' -grant_type
row token_endpoint/error-status spend public '' -grant_type
row token_endpoint/error-status spend public '' grant_type=x
row token_endpoint/grant-type-empty spend public '' grant_type=
row token_endpoint/grant-type-unknown spend public '' grant_type=x-nonsense
row token_endpoint/grant-type-uri spend public '' grant_type=urn:example:grant-type:nonsense
row token_endpoint/grant-type-in-other-case spend public '' grant_type=Authorization_Code
row token_endpoint/grant-type-prototype spend public '' grant_type=__proto__
row token_endpoint/grant-type-inherited spend public '' grant_type=toString
row token_endpoint/error-characters spend public '' '^grant_type=%22%5C%3Cb%3E%C3%A9%E2%80%A8%0D%0A%07'
row token_endpoint/empty-body tokens ''
granted confidential
for pair in 'basic-without-colon|Basic e30=' 'basic-not-base64|Basic ***' 'basic-empty|Basic' 'other-scheme|Digest username="x"' "bearer-as-client|Bearer $access"; do
  row "client_authentication/${pair%%|*}" spend confidential "${pair#*|}"
done
row introspection/token-missing introspect "$(my confidential)"
row introspection/token-empty introspect "$(my confidential)" token=
granted public
# renewed FIELD NAME=VALUE…: a request for new tokens.
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
told "${like[@]}"
granted confidential
renewed "$(basic web "not-${secret[confidential]}")" "refresh_token=$refresh"
told "${like[@]}"
granted public
renewed '' client_id=app "refresh_token=$refresh" scope=write
told 200 '"scope":"read"'
row refresh/more-scope renewed '' client_id=app "refresh_token=$refresh"
granted public
first=$refresh
renewed '' client_id=app "refresh_token=$first" && kept
renewed '' client_id=app "refresh_token=$refresh" && kept
renewed '' client_id=app "refresh_token=$first"
renewed '' client_id=app "refresh_token=$refresh" # it does end, as it should
told "${like[@]}"

finding 'a client that fails gets `unauthorized_client`'
like=(403 '"error":"unauthorized_client"')
key=${secret[confidential]}
row client_authentication/secret-missing spend confidential ''
row client_authentication/secret-empty spend confidential '' client_secret=
row client_authentication/secret-wrong-in-body spend confidential '' "client_secret=not-$key"
spend confidential '' "client_secret=$key"
told 200 '"access_token"'
for pair in secret-empty-by-basic= "secret-wrong=not-$key" "secret-with-a-letter-more=${key}A" "secret-of-another=${secret[other]}"; do
  row "client_authentication/${pair%%=*}" spend confidential "$(basic web "${pair#*=}")"
  lacks '[Ww][Ww][Ww]-[Aa]uthenticate'
done
code_of confidential
first=$code
row client_authentication/secret-wrong-then-right spend confidential "$(basic web "not-$key")"
code=$first
row client_authentication/secret-wrong-then-right spend confidential ''
code_of confidential
row client_authentication/unknown-client spend confidential '' client_id=no-such-client-5fd1
code_of confidential
row client_authentication/unknown-client-by-basic spend confidential "$(basic no-such-client-5fd1 x)"
row client_authentication/basic-not-utf-8 spend confidential 'Basic //79OnA='

finding 'refusals of a grant are 403 without a body'
like=(403 "$nobody")
# machine FIELD NAME=VALUE…: a request for a client's own token. Each is refused with a scope as without.
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
told "${like[@]}"
# With a scope there is a token.
machine "$(my service)" scope=read
told 200 '[Nn]o-[Ss]tore.*"access_token"'
lacks '"refresh_token"'
introspect "$(my service)" "token=$(jq --raw-output .access_token <<< "$body")"
lacks '"username":"(alice|bob)"'
machine '' client_id=odd "client_secret=${secret[odd_secret]}" scope=read
told 200 '"access_token"'

finding '`invalid_scope` is called `scope_invalid`, and `unauthorized_client` `authorization_type_invalid`'
like=(400 '"error":"scope_invalid"')
row client_credentials/scope-beyond machine "$(my service)" scope=admin
for scope in $'a"b' $'a\\b' $'a\ab' $'\u00e9'; do row client_credentials/scope-malformed machine "$(my service)" "scope=$scope"; done
machine "$(my code_only)" scope=read
told 400 '"error":"authorization_type_invalid"' client_credentials/not-registered-for-it

finding 'Basic is not form-decoded'
plain=${secret[odd_secret]}
coded=$(python3 -c 'import sys, urllib.parse; print(urllib.parse.quote_plus(sys.argv[1]))' "$plain")
like=(403 "$nobody")
row client_authentication/odd-secret machine "$(basic odd "$coded")" scope=read
machine "$(basic odd "$plain")" scope=read
told 200 '"access_token"'

finding 'names that may be in any case are read in one'
field=$(my confidential)
spend confidential "bAsIc${field#Basic}"
told 400 "$nobody" client_authentication/basic-in-any-case
granted public
for scheme in bearer BEARER; do
  shown "$scheme $access"
  told 401 "$nobody" bearer/scheme-in-any-case
done
bill public ''
ask "$issuer/token" "${sent[@]}" --header 'Content-Type: Application/X-WWW-Form-URLEncoded'
told 400 "$nobody" token_endpoint/media-type-in-capitals
ask "$issuer/token" "${sent[@]}" --header 'Content-Type: application/x-www-form-urlencoded; charset=UTF-8'
told 200 '"access_token"'

finding 'parameters that come twice are joined'
like=(403 '"error":"invalid_code"')
code_of public && row token_endpoint/repeated-code spend public '' "+code=$code"
row token_endpoint/repeated-unlike spend public '' +code=x
code_of public && row token_endpoint/repeated-unlike spend public '' code=x "+code=$code"
row token_endpoint/repeated-code-verifier spend public '' "+code_verifier=$verifier"
like=(403 '"error":"unauthorized_client"')
row token_endpoint/repeated-redirect-uri spend public '' "+redirect_uri=${uri[public]}"
row token_endpoint/repeated-client-id spend public '' +client_id=app
row token_endpoint/repeated-client-secret spend confidential '' "client_secret=$key" "+client_secret=$key"
like=(400 "$nobody")
row token_endpoint/repeated-grant-type spend public '' +grant_type=authorization_code
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
told 302 'callback\?.*error=invalid_scope'
opened public +state=other
told 302 '/login.html\?' authorize/repeated-state
opened public +state=other g_continue=
told 302 'callback\?.*state=xyz,other&code='

finding 'an empty `state` comes back'
opened public state= g_continue=
told 302 'callback\?.*&state&code=' authorize/empty-state

finding 'errors about `response_type` stand in the fragment'
like=(302 'callback#iss=.*&state=xyz&error=unsupported_response_type')
row authorize/response-type-unknown opened public response_type=x-nonsense
row authorize/response-type-in-other-case opened public response_type=Code
row issuer/unknown-response-type opened public response_type=no_such_type
like=(302 'callback#iss=.*&error=unsupported_response_type')
row authorize/error-keeps-state opened public response_type=x-nonsense $'state= %&+"\'<>=;#'
row authorize/error-without-state opened public response_type=x-nonsense -state
opened public response_type=
told 302 'callback#iss=.*&state=xyz&error=invalid_request' authorize/empty-response-type
opened with_query response_type=x-nonsense
told 302 'https://query.example/callback\?app=1#iss=.*error=unsupported' redirect_uri/query-is-kept

finding 'no challenge at UserInfo and introspection'
# bare VECTOR COMMAND…: the answer is 401 and has no challenge.
bare() {
  "${@:2}"
  [[ $status == 401 && ! ${head,,} =~ www-authenticate ]]
  proven '401, no WWW-Authenticate' "$1"
}
granted public
bare bearer/nothing-sent ask "$issuer/userinfo"
bare bearer/nothing-sent-says-no-error ask "$issuer/userinfo"
bare bearer/in-query-refused ask "$issuer/userinfo?access_token=$access"
bare bearer/unknown shown "Bearer $another"
bare bearer/unknown-is-told shown "Bearer $another"
bare bearer/altered shown "Bearer $(altered "$access")"
bare bearer/prolonged shown "Bearer ${access}A"
bare bearer/is-a-refresh-token shown "Bearer $refresh"
code_of public
bare bearer/is-a-code shown "Bearer $code"
code=''
bare bearer/other-scheme shown "$(basic "$access" "$access")"
bare bearer/scheme-alone shown Bearer
bare bearer/token-with-a-blank shown "Bearer $access x"
bare bearer/token-with-a-comma shown "Bearer $access,x"
bare bearer/token-in-quotes shown "Bearer \"$access\""
bare bearer/token-as-parameter shown "Bearer token=$access"
shown "Bearer $access"
told 200 '"sub"'
bare introspection/wrong-secret introspect "$(basic web "not-$key")" "token=$access"
bare introspection/no-credentials-is-401 introspect '' "token=$access"
bare introspection/unknown-bearer-is-401 introspect "Bearer $another" "token=$access"

finding 'every answer may be read by any site'
question public
ask "$issuer/auth" --get --cookie "$work/jar" --header 'Origin: https://spa.example' "${sent[@]}"
told 302 'Access-Control-Allow-Origin: \*' best_practice/no-cors-where-users-are
ask "$issuer/auth" --request OPTIONS --header 'Origin: https://spa.example' --header 'Access-Control-Request-Method: GET'
told 200 'Access-Control-Allow-Origin: \*' best_practice/no-cors-where-users-are
question public client_id=no-such-client-5fd1
ask "$issuer/auth" --get --header 'Origin: https://spa.example' "${sent[@]}"
told 403 'Access-Control-Allow-Origin: \*' best_practice/no-cors-for-an-error

finding 'a hint is taken for the kind of token'
granted confidential
field=$(my confidential)
introspect "$field" "token=$access"
told 200 '"active":true'
introspect "$field" "token=$refresh" token_type_hint=refresh_token
told 200 '"active":true'
like=(200 '"active":false')
row introspection/hint-wrong introspect "$field" "token=$access" token_type_hint=refresh_token
row introspection/hint-unknown introspect "$field" "token=$access" token_type_hint=no_such_type
row introspection/refresh-token-called-access-token introspect "$field" "token=$refresh" token_type_hint=access_token

finding 'the port of a loopback redirect URI counts'
opened loopback redirect_uri=http://127.0.0.1:49731/callback g_continue=
told 403 "$nobody" best_practice/loopback-any-port
opened loopback g_continue=
told 302 'http://127.0.0.1/callback\?.*code='

finding 'a refresh token for whom none is registered, which is good for nothing'
spend code_only "$(my code_only)"
told 200 '"refresh_token"' best_practice/no-refresh-token-without-the-grant
kept
renewed "$(my code_only)" "refresh_token=$refresh"
told 400 "$nobody"

finding 'the scope of a refresh is not looked at'
granted public 'scope=read write'
renewed '' client_id=app "refresh_token=$refresh" scope=read
told 200 '"scope":"read write"' refresh/less-scope
kept
renewed '' client_id=app "refresh_token=$refresh" scope=no-such-scope-5fd1
told 200 '"scope":"read write"' refresh/refused-scope-spends-nothing

finding 'a refused refresh spends the refresh token'
# ended VECTOR…: the token's own client comes with it, and is refused now.
ended() {
  renewed "$(my confidential)" "refresh_token=$refresh"
  told 400 "$nobody" "$@"
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
renewed "$(my confidential)" "refresh_token=$refresh" # where nobody was refused before, it is good
told 200 '"refresh_token"'

finding 'a refresh token is now and then good for several who come at once'
# About one try in five: as many tries as it takes, sixty or 45 seconds at most.
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
    [[ $(unlike refresh_token) -ge 2 ]] && break
  done
  vector=refresh/eight-at-once
  [[ $client == confidential ]] && vector=refresh/eight-at-once-of-a-confidential-client
  [[ $(unlike refresh_token) -ge 2 ]]
  proven '2 or more of 8 get refresh tokens of their own' "$vector"
done

finding 'errors say little'
opened public client_id=no-such-client-5fd1
told 403 "$nobody" authorize/client-id-unknown-is-told
opened public redirect_uri=https://evil.example/cb
told 403 "$nobody" redirect_uri/wrong-is-told
opened public -code_challenge -code_challenge_method
told 302 'error=invalid_request'
lacks error_description pkce/challenge-missing-is-explained
opened public code_challenge_method=S512
told 302 'error=invalid_request'
lacks error_description pkce/method-unknown-is-explained
question public client_id=no-such-client-5fd1
ask "$issuer/auth" --get "${sent[@]}"
told 403 'X-Frame-Options: deny'
lacks '[Cc]ontent-[Ss]ecurity-[Pp]olicy' best_practice/error-says-who-may-frame-it

finding 'what is too much is not looked at'
granted public
for more in "$access|bearer/two-ways" "$access|bearer/two-ways-is-malformed" 'bad|bearer/two-ways-with-another'; do
  ask "$issuer/userinfo?access_token=${more%|*}" --header "Authorization: Bearer $access"
  told 200 '"sub"' "${more#*|}"
done
bill public ''
ask "$issuer/token" "${sent[@]}" --header 'Content-Type: application/x-www-form-urlencoded-x'
told 200 '"access_token"' token_endpoint/media-type-alike

finding '`redirect_uri` is required'
opened public -redirect_uri g_continue=
told 403 'Invalid request' redirect_uri/omitted-with-one
opened public redirect_uri= g_continue=
told 403 'Invalid request' redirect_uri/empty-with-one

finding 'what ends a family of refresh tokens leaves access tokens as they are'
granted public
first=$refresh
renewed '' client_id=app "refresh_token=$first" && kept
renewed '' client_id=app "refresh_token=$refresh" && kept
renewed '' client_id=app "refresh_token=$first"
told 400 "$nobody"
shown "Bearer $access"
told 200 '"sub"' refresh/reuse-ends-access

finding 'the page comes first'
for pair in issuer/unknown-scope=no-such-scope-41d0 scope/in-capitals=READ scope/with-quote=a%22b 'scope/with-backslash=a%5Cb' \
  scope/with-control-character=a%07b scope/with-line-end=a%0D%0Ab scope/with-beyond-ascii=%C3%A9 scope/with-tab=read%09write; do
  opened public "^scope=${pair#*=}"
  told 302 '/login.html\?' "${pair%%=*}"
  opened public "^scope=${pair#*=}" g_continue=
  told 302 'app.example/callback\?iss=.*&error=invalid_scope'
done
for pair in 'not-from-x-forwarded-host|X-Forwarded-Host: evil.example' 'not-from-forwarded|Forwarded: host=evil.example;proto=http'; do
  question public scope=no-such-scope-41d0
  ask "$issuer/auth" --get --cookie "$work/jar" --header "${pair#*|}" "${sent[@]}"
  told 302 "http://127.0.0.1:$port/login.html\?" "issuer/${pair%%|*}"
  ask "$issuer/auth" --get --cookie "$work/jar" --header "${pair#*|}" "${sent[@]}" --data g_continue=
  told 302 "callback\?iss=http%3A%2F%2F127.0.0.1%3A$port%2Fapi%2Fglwd&.*error=invalid_scope"
done
opened public code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM
told 302 '/login.html\?' pkce/challenge-with-odd-characters
