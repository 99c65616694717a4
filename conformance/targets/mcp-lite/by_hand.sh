# Findings of RESULTS.md in mcp-lite, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
port=$(free_port)
url=http://127.0.0.1:$port/mcp
session='' revision='' # what `post` sends along, where there is any

# post JSON [option of curl…]: a message, in the session and of the revision of the last handshake.
post() {
  local json=$1
  shift
  ask "$url" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    ${session:+-H "Mcp-Session-Id: $session"} ${revision:+-H "MCP-Protocol-Version: $revision"} "$@" --data "$json"
}

# call METHOD PARAMS: a request.
call() { post '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'; }

# handshake REVISION: a new session. 2025-03-26 has no header field for the revision.
handshake() {
  session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$1"'","capabilities":{},
    "clientInfo":{"name":"by-hand","version":"1"}}}'
  session=$(sed -n 's/^mcp-session-id: //Ip' <<< "$head")
  [[ $1 == 2025-03-26 ]] || revision=$1
  told 200 "\"protocolVersion\":\"$1\""
  post '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  told 202 ''
}

serve "http://127.0.0.1:$port/" node server.mjs "$port"

finding 'any id is a session for `POST`'
for suite in http_2025_03_26:2025-03-26 http_2025_06_18:2025-06-18; do
  handshake "${suite#*:}"
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"'
  ask --request DELETE "$url" -H "Mcp-Session-Id: $session" ${revision:+-H "MCP-Protocol-Version: $revision"}
  told 200 '' # it says that it ended the session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"' "${suite%:*}/session-ended"
  lacks '"error"'
  session=conformance-no-such-session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"' "${suite%:*}/session-unknown"
  lacks '"error"'
  # A stream is refused, and so is a request without any id: the header field is looked for, not looked up.
  ask "$url" -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $session"
  told 400 'Invalid or missing session ID'
  session=''
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 400 'Missing required session ID'
done

finding 'a batch of notifications has an empty list'
handshake 2025-03-26
post '[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]'
[[ $status == 200 && $body == '[]' ]]
proven '200, []' batch_2025_03_26/notifications
post '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}' # alone it is right
told 202 ''

finding 'a missing resource is -32601'
for suite in http_2025_03_26:2025-03-26 http_2025_06_18:2025-06-18; do
  handshake "${suite#*:}"
  call resources/read '{"uri":"conformance://no/such"}'
  told 200 '"code":-32601,"message":"Method not found","data":\{"uri":"conformance://no/such"\}' "${suite%:*}/unknown-resource"
  call resources/read '{"uri":"text://motto"}' # the method is there
  told 200 '"text":"Ask."'
done

finding 'lists do not read the cursor'
for suite in http_2025_03_26:2025-03-26 http_2025_06_18:2025-06-18; do
  handshake "${suite#*:}"
  call tools/list '{"cursor":"conformance-no-such-cursor"}'
  told 200 '"name":"hello".*"name":"echo".*"name":"steps"' "${suite%:*}/cursor"
done
