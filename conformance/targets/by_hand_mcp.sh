# Functions for the by_hand.sh of MCP servers: requests over Streamable HTTP and stdio, and findings that several servers
# share. A target's script sources this file in place of by_hand.sh, which it includes:
#
#     source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
#
# The server is server.mjs of the target's folder, at $url once the script serves it, and stdio.mjs on standard input.
source "$(dirname "${BASH_SOURCE[0]}")/by_hand.sh"

port=$(free_port)
base=http://127.0.0.1:$port
url=$base/mcp
own='' other=''                 # tokens of two clients; a script sets them if its server requires one
token='' session='' revision='' # sent by `post` if set

# Suites of vectors with their revision; a script adds others that its server supports.
suites=(http_2025_03_26:2025-03-26 http_2025_06_18:2025-06-18)

MODERN=2026-07-28
client='"io.modelcontextprotocol/clientInfo":{"name":"by-hand","version":"1"}'
capabilities='"io.modelcontextprotocol/clientCapabilities":{}'
version='"io.modelcontextprotocol/protocolVersion":"'$MODERN'"'
meta='"_meta":{'$version,$capabilities,$client'}'

PINGS='[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]'
CURSOR='"cursor":"conformance-no-such-cursor"'

# post JSON [option of curl…]: posts a message with session and revision of the last handshake.
post() {
  local json=$1
  shift
  request "$url" ${token:+-H "Authorization: Bearer $token"} -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' ${session:+-H "Mcp-Session-Id: $session"} \
    ${revision:+-H "MCP-Protocol-Version: $revision"} "$@" --data "$json"
}

# call METHOD PARAMS: posts a request of a revision with a handshake.
call() { post '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'; }

# modern METHOD PARAMS [option of curl…]: posts a request of 2026-07-28, without handshake; PARAMS are sent unchanged.
modern() {
  local method=$1 params=$2
  shift 2
  session='' revision=$MODERN
  post '{"jsonrpc":"2.0","id":2,"method":"'"$method"'","params":'"$params"'}' -H "Mcp-Method: $method" "$@"
}

# initialize REVISION [option of curl…]: posts the first message of a handshake.
initialize() {
  local asked=$1
  shift
  token=$own session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$asked"'","capabilities":{},
    "clientInfo":{"name":"by-hand","version":"1"}}}' "$@"
}

# handshake REVISION: opens a session if the server has sessions. 2025-03-26 has no header for the revision.
handshake() {
  initialize "$1"
  expect 200 "\"protocolVersion\":\"$1\""
  session=$(sed -n 's/^mcp-session-id: //Ip' <<< "$head")
  [[ $1 == 2025-03-26 ]] || revision=$1
  post '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  expect 202 ''
}

# end_session: ends the session, as the client whose token is set.
end_session() {
  request --request DELETE "$url" ${token:+-H "Authorization: Bearer $token"} -H "Mcp-Session-Id: $session" \
    ${revision:+-H "MCP-Protocol-Version: $revision"}
}

# stdio REVISION REQUEST…: sends a handshake over stdio, the requests and a ping; sets body to the output.
stdio() {
  local asked=$1
  shift
  send_lines 5 node stdio.mjs < <(
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$asked"'","capabilities":{},'`
      `'"clientInfo":{"name":"by-hand","version":"1"}}}'
    printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$@" '{"jsonrpc":"2.0","id":"after","method":"ping"}'
  )
  [[ $(response_line 1) == *"\"protocolVersion\":\"$asked\""* && $(response_line '"after"') == *'"result":{}'* ]]
  check 'handshake and ping have a response'
}

# response_line ID: prints the response to it.
response_line() { grep "\"id\":$1[,}]" <<< "$body"; }

# for_each_suite COMMAND [ARGUMENT…]: runs COMMAND for each suite, with its name and revision before the arguments.
for_each_suite() {
  local suite
  for suite in "${suites[@]}"; do
    "$1" "${suite%:*}" "${suite#*:}" "${@:2}"
  done
}

# level SUITE REVISION PATTERN: sets an unknown log level.
level() {
  handshake "$2"
  call logging/setLevel '{"level":"conformance"}'
  expect 200 "$3" "$1/unknown-level"
}

# cursor SUITE REVISION PATTERN: lists the tools with an unknown cursor.
cursor() {
  handshake "$2"
  call tools/list "{$CURSOR}"
  local vector=$1/cursor
  [[ $1 == methods ]] && vector=methods/cursor-tools
  expect 200 "$3" "$vector"
}

# resource SUITE REVISION PATTERN: reads an unknown resource.
resource() {
  handshake "$2"
  call resources/read '{"uri":"conformance://no/such"}'
  expect 200 "$3" "$1/unknown-resource"
}

# Findings of both @modelcontextprotocol/server and @modelcontextprotocol/sdk.

# batches SUITE REVISION: batches get responses in a revision without batches. The script tests the empty batch.
batches() {
  handshake "$2"
  post "$PINGS"
  expect 200 '"result":\{\}.*"result":\{\}' "$1/requests"
  post '[{"jsonrpc":"2.0","id":2,"method":"ping"}]'
  expect 200 '"result":\{\}' "$1/one-request"
  post '[{"jsonrpc":"2.0","method":"notifications/initialized"}]'
  expect 202 '' "$1/notifications"
}

# levels: unknown levels return -32603.
levels() {
  for_each_suite level '"code":-32603.*Invalid option'
  call logging/setLevel '{"level":"ERROR"}'
  expect 200 '"code":-32603.*Invalid option' methods/level-capitals
  call logging/setLevel '{"level":"error"}'
  expect 200 '"result":\{\}'
}

# cursors LAST: lists ignore cursors; the list of tools is complete, from `hello` to LAST.
cursors() {
  for_each_suite cursor '"result".*"name":"hello".*"name":"'"$1"'"'
  while read -r vector method wanted; do
    call "$method" "{$CURSOR}"
    expect 200 "\"result\".*$wanted" "$vector"
  done << 'EOT'
methods/cursor-prompts prompts/list "name":"greet"
methods/cursor-resources resources/list "uri":"text://motto"
methods/cursor-templates resources/templates/list "uriTemplate":"page:
EOT
}

# other_caller: uses another client's session, listens to it, and ends it.
other_caller() {
  handshake 2025-11-25
  token=$other
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 '"result".*"name":"hello"' session/other-caller
  # The other client listens while the session's owner causes a notification.
  (sleep 3; curl --silent --output "$work/changed" --max-time 10 "$url" -H "Authorization: Bearer $own" \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H "Mcp-Session-Id: $session" \
    -H "MCP-Protocol-Version: $revision" \
    --data '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"change_tools","arguments":{}}}') &
  request "$url" --no-buffer --max-time 8 -H "Authorization: Bearer $other" -H 'Accept: text/event-stream' \
    -H "Mcp-Session-Id: $session" -H "MCP-Protocol-Version: $revision"
  expect 200 'notifications/tools/list_changed' session/other-caller-stream
  wait $!
  end_session
  expect 200 ''
  token=$own
  post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
  expect 404 'Session not found' session/other-caller-delete
  token=made-up # any valid token is enough, but one is required
  post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
  expect 401 'invalid_token'
}

# batch_on_stdio: 2025-03-26 has batches, but they get no response.
batch_on_stdio() {
  stdio 2025-03-26 '[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c","method":"ping"}]'
  [[ ! $body =~ \"id\":(\"b\"|\"c\"|null) ]]
  check 'no response to the batch' stdio_opening/batch-2025-03-26
  handshake 2025-03-26 # over HTTP they have responses
  post "$PINGS"
  expect 200 '"id":2.*"id":3'
}

# wrong_initialize STATUS PATTERN [SUITE]: checks the error for a malformed `initialize`. SUITE: the suite whose vectors fail.
wrong_initialize() {
  local params='"params":{"protocolVersion":20251125,"capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}'
  token=$own session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize"}'
  expect "$1" "$2" ${3:+"$3/no-params"}
  post '{"jsonrpc":"2.0","id":1,"method":"initialize",'"$params}"
  expect "$1" "$2" ${3:+"$3/version-number"}
}
