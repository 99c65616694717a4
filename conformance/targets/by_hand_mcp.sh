# What the by_hand.sh of servers of MCP share: words that speak it over Streamable HTTP and on standard input, and what
# more than one of them is asked. A target's script takes this file in place of by_hand.sh, whose words it brings along:
#
#     source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
#
# The server is server.mjs of the target's folder, at $url once the script serves it, and stdio.mjs on standard input.
source "$(dirname "${BASH_SOURCE[0]}")/by_hand.sh"

port=$(free_port)
base=http://127.0.0.1:$port
url=$base/mcp
own='' other=''                 # tokens of two clients; a script sets them if its server wants one
token='' session='' revision='' # what `post` sends along, where there is any

# Suites of vectors, with the revision that each asks; a script adds others that its server has.
suites=(http_2025_03_26:2025-03-26 http_2025_06_18:2025-06-18)

MODERN=2026-07-28
client='"io.modelcontextprotocol/clientInfo":{"name":"by-hand","version":"1"}'
capabilities='"io.modelcontextprotocol/clientCapabilities":{}'
version='"io.modelcontextprotocol/protocolVersion":"'$MODERN'"'
meta='"_meta":{'$version,$capabilities,$client'}'

PINGS='[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]'
CURSOR='"cursor":"conformance-no-such-cursor"'

# post JSON [option of curl…]: a message, in the session and of the revision of the last handshake.
post() {
  local json=$1
  shift
  ask "$url" ${token:+-H "Authorization: Bearer $token"} -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' ${session:+-H "Mcp-Session-Id: $session"} \
    ${revision:+-H "MCP-Protocol-Version: $revision"} "$@" --data "$json"
}

# call METHOD PARAMS: a request of a revision that has a handshake.
call() { post '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'; }

# modern METHOD PARAMS [option of curl…]: a request of 2026-07-28, without handshake; PARAMS as they are.
modern() {
  local method=$1 params=$2
  shift 2
  session='' revision=$MODERN
  post '{"jsonrpc":"2.0","id":2,"method":"'"$method"'","params":'"$params"'}' -H "Mcp-Method: $method" "$@"
}

# initialize REVISION [option of curl…]: the first message of a handshake.
initialize() {
  local asked=$1
  shift
  token=$own session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$asked"'","capabilities":{},
    "clientInfo":{"name":"by-hand","version":"1"}}}' "$@"
}

# handshake REVISION: there is a session after it, unless the server has none. 2025-03-26 has no header field for the revision.
handshake() {
  initialize "$1"
  told 200 "\"protocolVersion\":\"$1\""
  session=$(sed -n 's/^mcp-session-id: //Ip' <<< "$head")
  [[ $1 == 2025-03-26 ]] || revision=$1
  post '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  told 202 ''
}

# end_session: asks for the end of the session, by the client whose token is set.
end_session() {
  ask --request DELETE "$url" ${token:+-H "Authorization: Bearer $token"} -H "Mcp-Session-Id: $session" \
    ${revision:+-H "MCP-Protocol-Version: $revision"}
}

# stdio REVISION REQUEST…: a handshake on standard input, the requests, and a ping; body is what was said.
stdio() {
  local asked=$1
  shift
  say 5 node stdio.mjs < <(
    echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$asked"'","capabilities":{},'`
      `'"clientInfo":{"name":"by-hand","version":"1"}}}'
    printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$@" '{"jsonrpc":"2.0","id":"after","method":"ping"}'
  )
  [[ $(said 1) == *"\"protocolVersion\":\"$asked\""* && $(said '"after"') == *'"result":{}'* ]]
  proven 'the handshake and the ping are answered'
}

# said ID: the line that answers it.
said() { grep "\"id\":$1[,}]" <<< "$body"; }

# each COMMAND [ARGUMENT…]: once for each of the suites, with its name and its revision before the arguments.
each() {
  local suite
  for suite in "${suites[@]}"; do
    "$1" "${suite%:*}" "${suite#*:}" "${@:2}"
  done
}

# level SUITE REVISION PATTERN: sets a level of the log that there is not.
level() {
  handshake "$2"
  call logging/setLevel '{"level":"conformance"}'
  told 200 "$3" "$1/unknown-level"
}

# cursor SUITE REVISION PATTERN: lists the tools from a cursor that there is not.
cursor() {
  handshake "$2"
  call tools/list "{$CURSOR}"
  local vector=$1/cursor
  [[ $1 == methods ]] && vector=methods/cursor-tools
  told 200 "$3" "$vector"
}

# resource SUITE REVISION PATTERN: reads a resource that there is not.
resource() {
  handshake "$2"
  call resources/read '{"uri":"conformance://no/such"}'
  told 200 "$3" "$1/unknown-resource"
}

# What follows asks findings that @modelcontextprotocol/server and @modelcontextprotocol/sdk have both.

# batches SUITE REVISION: they are answered in this one, which has none. The empty batch is left to the script.
batches() {
  handshake "$2"
  post "$PINGS"
  told 200 '"result":\{\}.*"result":\{\}' "$1/requests"
  post '[{"jsonrpc":"2.0","id":2,"method":"ping"}]'
  told 200 '"result":\{\}' "$1/one-request"
  post '[{"jsonrpc":"2.0","method":"notifications/initialized"}]'
  told 202 '' "$1/notifications"
}

# levels: wrong ones are -32603.
levels() {
  each level '"code":-32603.*Invalid option'
  call logging/setLevel '{"level":"ERROR"}'
  told 200 '"code":-32603.*Invalid option' methods/level-capitals
  call logging/setLevel '{"level":"error"}'
  told 200 '"result":\{\}'
}

# cursors LAST: no list reads them; that of tools is whole, from `hello` to this one.
cursors() {
  each cursor '"result".*"name":"hello".*"name":"'"$1"'"'
  while read -r vector method wanted; do
    call "$method" "{$CURSOR}"
    told 200 "\"result\".*$wanted" "$vector"
  done << 'EOT'
methods/cursor-prompts prompts/list "name":"greet"
methods/cursor-resources resources/list "uri":"text://motto"
methods/cursor-templates resources/templates/list "uriTemplate":"page:
EOT
}

# other_caller: asks within a session of somebody else, listens to it, and ends it.
other_caller() {
  handshake 2025-11-25
  token=$other
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"result".*"name":"hello"' session/other-caller
  # The other client listens; meanwhile the session's own one does something that its server tells of.
  (sleep 3; curl --silent --output "$work/changed" --max-time 10 "$url" -H "Authorization: Bearer $own" \
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H "Mcp-Session-Id: $session" \
    -H "MCP-Protocol-Version: $revision" \
    --data '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"change_tools","arguments":{}}}') &
  ask "$url" --no-buffer --max-time 8 -H "Authorization: Bearer $other" -H 'Accept: text/event-stream' \
    -H "Mcp-Session-Id: $session" -H "MCP-Protocol-Version: $revision"
  told 200 'notifications/tools/list_changed' session/other-caller-stream
  wait $!
  end_session
  told 200 ''
  token=$own
  post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
  told 404 'Session not found' session/other-caller-delete
  token=made-up # a token is needed, any good one
  post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
  told 401 'invalid_token'
}

# batch_on_stdio: 2025-03-26 has batches, and here they get no answer.
batch_on_stdio() {
  stdio 2025-03-26 '[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c","method":"ping"}]'
  [[ ! $body =~ \"id\":(\"b\"|\"c\"|null) ]]
  proven 'nothing for the batch' stdio_opening/batch-2025-03-26
  handshake 2025-03-26 # over HTTP they are answered
  post "$PINGS"
  told 200 '"id":2.*"id":3'
}

# wrong_initialize STATUS PATTERN [SUITE]: `initialize` of a wrong form is told so; with the suite whose vectors fail of it.
wrong_initialize() {
  local params='"params":{"protocolVersion":20251125,"capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}'
  token=$own session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize"}'
  told "$1" "$2" ${3:+"$3/no-params"}
  post '{"jsonrpc":"2.0","id":1,"method":"initialize",'"$params}"
  told "$1" "$2" ${3:+"$3/version-number"}
}
