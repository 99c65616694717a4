# Findings of RESULTS.md in @node-oauth/oauth2-server, by hand; then in @node-oauth/express-oauth-server, which wraps it:
# all findings of the first again, and its own. `npm ci` in this folder first. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"

verifier=0123456789-an-unreserved-text-of-53-characters-98765432
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d =)
query=(response_type=code client_id=app redirect_uri=https://app.example/callback scope=profile state=a-state
  code_challenge="$challenge" code_challenge_method=S256)

# secret NAME: prints id and secret of a client of target.json, for curl's --user.
secret() { jq -r --arg name "$1" '.vars.clients[$name] | "\(.id):\(.secret)"' target.json; }

# sign_in: submits the login form; stores the session in a cookie jar.
sign_in() { request "$base/login" --cookie-jar "$work/jar" -d name=alice -d password=wonderland; expect 303 'session='; }

# changed CHANGE…: sets fields to curl options for the query above, where NAME=VALUE replaces a parameter, NAME alone
# removes it, and +NAME=VALUE adds one.
changed() {
  local given=("${query[@]}") change at
  for change; do
    if [[ $change == +* ]]; then given+=("${change#+}") && continue; fi
    for at in "${!given[@]}"; do [[ ${given[at]%%=*} == "${change%%=*}" ]] && unset "given[at]"; done
    [[ $change == *=* ]] && given+=("$change")
  done
  fields=()
  for change in "${given[@]}"; do fields+=(--data-urlencode "$change"); done
}

# authorize CHANGE…: sends an authorization request of the signed-in user; prints the redirect and sets code.
authorize() {
  changed "$@"
  request "$base/authorize" --get --cookie "$work/jar" "${fields[@]}"
  sed -n 's/^location:/< &/Ip' <<< "$head"
  code=$(sed -n 's/^location:.*[?&]code=\([^&]*\).*/\1/Ip' <<< "$head")
}

# token OPTION…: sends a token request; sets access and refresh.
token() {
  request "$base/token" "$@"
  access=$(jq -r '.access_token // empty' <<< "$body" 2> /dev/null)
  refresh=$(jq -r '.refresh_token // empty' <<< "$body" 2> /dev/null)
}

# redeem OPTION…: redeems the code as its public client.
redeem() {
  token -d grant_type=authorization_code -d "code=$code" -d redirect_uri=https://app.example/callback -d client_id=app \
    -d "code_verifier=$verifier" "$@"
}

# renew TOKEN OPTION…: uses a refresh token as the public client.
renew() { token -d grant_type=refresh_token -d "refresh_token=$1" -d client_id=app "${@:2}"; }

# resource TOKEN OPTION…: requests the protected resource, which returns the user.
resource() { request "$base/api/user" -H "authorization: Bearer $1" "${@:2}"; }

# deny: the user denies the client "asked".
deny() {
  changed client_id=asked redirect_uri=http://127.0.0.1/asked
  request "$base/consent" --get --cookie "$work/jar" "${fields[@]}"
  local decision
  decision=$(sed 's/.*name="decision" value="\([^"]*\)".*/\1/' <<< "$body")
  request "$base/authorize" --cookie "$work/jar" "${fields[@]}" -d "decision=$decision" -d allowed=false
}

# without_refresh_token: whether a client gets no refresh token if the model, as the library's guide recommends, generates
# none for it. Calls the library without a server.
without_refresh_token() {
  node --input-type=module -e '
    import OAuth2Server from "@node-oauth/oauth2-server";
    const client = { id: "c", grants: ["authorization_code"] };
    const answer = new OAuth2Server.Response();
    const request = new OAuth2Server.Request({
      method: "POST",
      query: {},
      headers: { "content-type": "application/x-www-form-urlencoded", "content-length": "1" },
      body: { grant_type: "authorization_code", code: "a", client_id: "c", client_secret: "s" },
    });
    await new OAuth2Server({ model: {
      getClient: () => client,
      getAuthorizationCode: () => ({ client, user: {}, expiresAt: new Date(Date.now() + 60000) }),
      revokeAuthorizationCode: () => true,
      generateRefreshToken: ({ grants }) => grants.includes("refresh_token") ? "r" : undefined,
      saveToken: (token) => ({ ...token, client, user: {} }),
    } }).token(request, answer);
    process.exitCode = answer.body.access_token && !answer.body.refresh_token ? 0 : 1;
  '
}

# of_library STATUS: the findings of the library; STATUS is that of a refused authorization request.
of_library() {
  local refused=$1 web other first second third vector kind field
  web=$(secret confidential) other=$(secret other)

  finding 'an error is lost where the redirect URI has a query'
  authorize client_id=with-query 'redirect_uri=https://query.example/callback?app=1'
  expect 302 'ocation: https://query\.example/callback\?app=1&code=.*&state=a-state'
  authorize client_id=with-query 'redirect_uri=https://query.example/callback?app=1' response_type=x-nonsense
  expect "$refused" 'ocation: https://query\.example/callback\?app=1[[:space:]]' redirect_uri/query-is-kept

  finding 'Basic is not form-decoded'
  field=$(secret odd_secret | sed 's/^odd://' | jq -Rr '@uri | gsub("%20"; "+")')
  token --user "odd:$field" -d grant_type=client_credentials
  expect 401 '"error":"invalid_client"' client_authentication/odd-secret
  token --user "$(secret odd_secret)" -d grant_type=client_credentials
  expect 200 '"access_token"'

  finding 'asking for less scope once loses the rest'
  authorize 'scope=profile read'; redeem; expect 200 '"scope":"profile read"'
  renew "$refresh" -d scope=profile; expect 200 '"scope":"profile"'
  renew "$refresh" --data-urlencode 'scope=profile read'
  expect 400 '"error":"invalid_scope"' refresh/less-scope-once

  finding 'a refused refresh consumes the refresh token'
  authorize; redeem; first=$refresh
  renew "$first" -d scope=no-such-scope; expect 400 '"error":"invalid_scope"'
  renew "$first"; expect 400 '"error":"invalid_grant"' refresh/refused-scope-spends-nothing

  finding 'of two redirect URIs the first is guessed'
  authorize client_id=two-uris redirect_uri
  expect 302 'ocation: https://two\.example/first\?code=' redirect_uri/omitted-with-two

  finding 'a `redirect_uri` that was not sent is demanded'
  authorize redirect_uri; expect 302 'ocation: https://app\.example/callback\?code='
  token -d grant_type=authorization_code -d "code=$code" -d client_id=app -d "code_verifier=$verifier"
  expect 400 '"error":"invalid_request"' code/redirect-uri-never-sent

  finding 'credentials in two ways, the second unseen'
  while read -r vector field; do
    authorize client_id=web redirect_uri=https://web.example/callback
    token --user "$web" -d grant_type=authorization_code -d "code=$code" -d redirect_uri=https://web.example/callback \
      -d "code_verifier=$verifier" -d "$field"
    expect 200 '"access_token"' "client_authentication/$vector"
  done << END
two-methods client_id=web&client_secret=${web#*:}
two-methods-one-wrong client_id=web&client_secret=wrong
two-methods-of-two-clients client_id=web-two&client_secret=${other#*:}
two-names client_id=web-two
END
  token --user "$web" -d grant_type=client_credentials -d client_id=web-two -d client_secret=wrong
  resource "$access"; expect 200 '"user":"web"'

  finding 'repeated parameters'
  authorize +response_type=code; expect "$refused" 'error=unsupported_response_type' authorize/repeated-response-type
  authorize +response_type=token; expect "$refused" 'error=unsupported_response_type' authorize/repeated-unlike
  authorize +scope=profile; expect "$refused" 'error=invalid_scope' authorize/repeated-scope
  authorize +state=other; expect 302 'code=.*&state=a-state&state=other' authorize/repeated-state
  authorize "+code_challenge=$challenge"; expect 302 'callback\?code=' authorize/repeated-code-challenge
  redeem; expect 400 '"error":"invalid_grant"' # no client can redeem such a code
  authorize; first=$code
  redeem -d grant_type=authorization_code; expect 400 '"error":"invalid_client"' token_endpoint/repeated-grant-type
  redeem -d client_id=app; expect 400 '"error":"invalid_client"' token_endpoint/repeated-client-id
  redeem -d "code=$first"; expect 400 '"error":"invalid_grant"' token_endpoint/repeated-code
  redeem -d code=x; expect 400 '"error":"invalid_grant"' token_endpoint/repeated-unlike
  code=x; redeem -d "code=$first"; expect 400 '"error":"invalid_grant"' token_endpoint/repeated-unlike; code=$first
  redeem; expect 200 '"refresh_token"' # without repetition the code is valid
  renew "$refresh" -d "refresh_token=$refresh"
  expect 400 '"error":"invalid_grant"' token_endpoint/repeated-refresh-token
  token --user "$web" -d grant_type=client_credentials -d scope=profile -d scope=profile
  expect 400 '"error":"invalid_scope"' token_endpoint/repeated-scope

  finding '`invalid_request` for `invalid_grant`'
  authorize client_id=two-uris redirect_uri=https://two.example/first
  token -d grant_type=authorization_code -d "code=$code" -d redirect_uri=https://two.example/second \
    -d client_id=two-uris -d "code_verifier=$verifier"
  expect 400 '"error":"invalid_request"' code/other-redirect-uri

  finding 'public clients are not known but by PKCE'
  authorize
  field=(-d "code=$code" -d redirect_uri=https://app.example/callback -d "code_verifier=$verifier")
  token -d client_id=app "${field[@]}"
  expect 400 '"error":"invalid_client"' token_endpoint/grant-type-missing token_endpoint/error-status
  token --user "$web" "${field[@]}"; expect 400 '"error":"invalid_request"' # a client with a secret gets the right error
  token -d client_id=app "${field[@]}" -d grant_type=
  expect 400 '"error":"invalid_client"' token_endpoint/grant-type-empty
  for kind in unknown:x-nonsense uri:urn:example:grant-type:nonsense in-other-case:Authorization_Code \
    prototype:__proto__ inherited:toString; do
    token -d client_id=app "${field[@]}" -d "grant_type=${kind#*:}"
    expect 400 '"error":"invalid_client"' "token_endpoint/grant-type-${kind%%:*}"
    token --user "$web" "${field[@]}" -d "grant_type=${kind#*:}"; expect 400 '"error":"unsupported_grant_type"'
  done

  finding 'replay is refused, and nothing taken back'
  authorize; redeem; first=$refresh
  renew "$first"; renew "$refresh"; second=$access third=$refresh
  renew "$first"; expect 400 '"error":"invalid_grant"'
  resource "$second"; expect 200 '"user":"alice"' refresh/reuse-ends-access
  renew "$third"; expect 200 '"access_token"' refresh/reuse-ends-the-family
  authorize; redeem; first=$refresh
  renew "$first"; second=$refresh
  request "$base/control/advance" -d '{"seconds":3600}'; expect 204 '' # an hour later on the server's clock
  renew "$first"; expect 400 '"error":"invalid_grant"'
  renew "$second"; expect 200 '"access_token"' refresh/late-reuse
  authorize; redeem; first=$access second=$refresh
  redeem; expect 400 '"error":"invalid_grant"'
  resource "$first"; expect 200 '"user":"alice"' code/twice-then-access-token
  renew "$second"; expect 200 '"access_token"' code/twice-then-refresh-token

  finding 'refresh tokens without the grant'
  authorize client_id=code-only redirect_uri=https://code-only.example/callback
  token --user "$(secret code_only)" -d grant_type=authorization_code -d "code=$code" \
    -d redirect_uri=https://code-only.example/callback -d "code_verifier=$verifier"
  expect 200 '"refresh_token":"' best_practice/no-refresh-token-without-the-grant
  token --user "$(secret code_only)" -d grant_type=refresh_token -d "refresh_token=$refresh"
  expect 400 '"error":"unauthorized_client"' # it cannot be used
  without_refresh_token; check 'no refresh token if the model generates none for the client'

  finding 'a client without the code grant gets no error redirect'
  authorize client_id=no-code redirect_uri=https://no-code.example/callback scope
  expect 400 '"error":"unauthorized_client"' authorize/client-without-code-grant
  expect_no 'ocation:' authorize/client-without-code-grant

  finding '`state` is demanded'
  authorize state; expect "$refused" 'error=invalid_request.*state' authorize/no-state
  authorize state=; expect "$refused" 'error=invalid_request.*state' authorize/empty-state
  authorize state response_type=x-nonsense; expect "$refused" 'error=invalid_request.*state' authorize/error-without-state

  finding 'a challenge without a method is taken as `S256`'
  authorize code_challenge_method; expect 302 'callback\?code=' pkce/method-missing-without-plain
  redeem; expect 200 '"access_token"'

  finding 'small ones'
  authorize "code_challenge=${challenge:0:42}"; expect 302 'callback\?code=' pkce/challenge-too-short
  authorize "code_challenge=$challenge$challenge$challenge"; expect 302 'callback\?code=' pkce/challenge-too-long
  authorize "code_challenge=$challenge="; expect 302 'callback\?code=' pkce/challenge-padded
  authorize code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM
  expect 302 'callback\?code=' pkce/challenge-with-odd-characters
  authorize; redeem
  request "$base/api/user" -H "authorization: bearer $access"
  expect 400 '"error":"invalid_request"' bearer/scheme-in-any-case
  code=x; redeem; expect 400 '"error":"invalid_grant"'
  expect_no '[Cc]ache-[Cc]ontrol' token_endpoint/error-not-cached
}


# bad STATUS VECTOR… -- OPTION…: requests a resource without a valid token. The library's response has a challenge; the
# adapter's has none, so these vectors fail.
bad() {
  local code=$1 vectors=()
  while shift; do
    if [[ $1 == -- ]]; then break; fi
    vectors+=("bearer/$1")
  done
  request "${@:2}"
  if [[ $with == library ]]; then expect "$code" 'www-authenticate: Bearer realm='; else
    expect "$code" ''
    expect_no '[Ww][Ww][Ww]-[Aa]uthenticate' "${vectors[@]}"
  fi
}

bad_tokens() {
  local url=$base/api/user unused
  authorize; unused=$code
  authorize; redeem
  bad 401 nothing-sent nothing-sent-says-no-error -- "$url"
  bad 401 unknown unknown-is-told -- "$url" -H 'authorization: Bearer 4f0c6a1e8d2b7395af61c04e9b8d7f2a35e1c690'
  bad 401 altered -- "$url" -H "authorization: Bearer $(tr 0-9a-f 1-9a-f0 <<< "${access:0:1}")${access:1}"
  bad 401 prolonged -- "$url" -H "authorization: Bearer ${access}A"
  bad 401 is-a-code -- "$url" -H "authorization: Bearer $unused"
  bad 401 is-a-refresh-token -- "$url" -H "authorization: Bearer $refresh"
  bad 400 other-scheme -- "$url" --user "$access:$access"
  bad 400 scheme-alone -- "$url" -H 'authorization: Bearer'
  bad 400 token-with-a-blank -- "$url" -H "authorization: Bearer $access x"
  bad 400 token-with-a-comma -- "$url" -H "authorization: Bearer $access,x"
  bad 400 token-in-quotes -- "$url" -H "authorization: Bearer \"$access\""
  bad 400 token-as-parameter -- "$url" -H "authorization: Bearer token=$access"
  bad 400 two-ways-is-malformed -- "$url?access_token=$access" -H "authorization: Bearer $access"
  bad 400 in-query-refused -- "$url?access_token=$access"
  bad 403 insufficient-scope -- "$base/api/read" -H "authorization: Bearer $access"
  resource "$access"; expect 200 '"user":"alice"' # valid if sent correctly
  resource "$access" -H 'authorization: Bearer x'; expect 200 '"user":"alice"' bearer/two-fields # Node's HTTP server
  request "$base/control/advance" -d '{"seconds":3601}'; expect 204 ''
  bad 401 expired expired-is-told -- "$url" -H "authorization: Bearer $access"
}

# start OPTION…: starts the server on a free port and signs alice in.
start() {
  local port
  port=$(free_port)
  base=http://127.0.0.1:$port
  serve "$base/login" node server.mjs "$port" "$@"
  sign_in
}

printf '\n# @node-oauth/oauth2-server\n'
with=library
start
of_library 302
printf '\nWithout the adapter, the header and the redirect are right.\n'
bad_tokens
deny; expect 302 'ocation: http://127\.0\.0\.1/asked\?error=access_denied&'
stop_server

printf '\n# @node-oauth/express-oauth-server\n'
with=adapter
start --adapter
of_library 400

finding 'errors of the authorization endpoint do not redirect'
# lost ERROR VECTOR CHANGE…: sends a request that is refused with the right Location and a status that browsers do not follow.
lost() {
  authorize "${@:3}"
  expect 400 "ocation: https://app\.example/callback\?error=$1&.*\"error\":\"$1\"" "$2"
}
lost invalid_request authorize/empty-response-type response_type=
lost invalid_request authorize/response-type-missing response_type
lost invalid_request authorize/error-in-query response_type
lost unsupported_response_type authorize/response-type-unknown response_type=x-nonsense
lost unsupported_response_type authorize/response-type-in-other-case response_type=Code
for pair in 'triplets|%61%2Fb%2520c%2B%26' 'triplet-of-a-percent-sign|%2520' 'plus-signs|a+b%2Bc'; do
  lost unsupported_response_type "encoding/state-of-${pair%%|*}-with-error" response_type=x-nonsense "state=${pair#*|}"
done
lost unsupported_response_type authorize/response-type-order 'response_type=token code'
lost unsupported_response_type authorize/error-keeps-state response_type=x-nonsense $'state= %&+"\'<>=;#'
lost invalid_request pkce/method-unknown code_challenge_method=S512
lost invalid_request pkce/method-in-lower-case code_challenge_method=s256
lost invalid_request pkce/method-prototype code_challenge_method=constructor
lost invalid_request pkce/plain-refused code_challenge_method=plain
lost invalid_scope scope/unknown scope=no-such-scope
lost invalid_scope scope/unknown-beside-known 'scope=profile no-such-scope'
lost invalid_scope scope/with-quote 'scope=a"b'
lost invalid_scope scope/with-backslash 'scope=a\b'
lost invalid_scope scope/with-control-character $'scope=a\ab'
lost invalid_scope scope/with-line-end $'scope=a\r\nb'
lost invalid_scope scope/with-beyond-ascii 'scope=é'
lost invalid_scope scope/with-tab $'scope=profile\tread'
deny; expect 400 'ocation: http://127\.0\.0\.1/asked\?error=access_denied&'

finding 'no `WWW-Authenticate`'
bad_tokens
