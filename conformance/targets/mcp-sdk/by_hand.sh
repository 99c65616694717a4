# Findings of RESULTS.md in @modelcontextprotocol/sdk, by hand, with those that its section shares with that of
# @modelcontextprotocol/server. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
export NODE_ENV=production # as in target.json
port=$(free_port)
base=http://127.0.0.1:$port url=http://127.0.0.1:$port/mcp
own=good-token-Lw83kd other=other-token-Vr95xc # of two clients
token=$own session='' revision=''              # what `post` sends along, where there is any

# post JSON [option of curl…]: a message, in the session and of the revision of the last handshake.
post() {
  local json=$1
  shift
  ask "$url" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' ${session:+-H "Mcp-Session-Id: $session"} \
    ${revision:+-H "MCP-Protocol-Version: $revision"} "$@" --data "$json"
}

# call METHOD PARAMS: a request of a revision that has a handshake.
call() { post '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'; }

# handshake REVISION: there is a session after it, unless the server has none. 2025-03-26 has no header field for the revision.
handshake() {
  token=$own session='' revision=''
  post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"'"$1"'","capabilities":{},
    "clientInfo":{"name":"by-hand","version":"1"}}}'
  told 200 "\"protocolVersion\":\"$1\""
  session=$(sed -n 's/^mcp-session-id: //Ip' <<< "$head")
  [[ $1 == 2025-03-26 ]] || revision=$1
  post '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  told 202 ''
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

# listen: opens a stream of 2024-11-05 behind us, as its first client; address is where its messages go.
listen() {
  stream=$work/stream
  : > "$stream"
  curl --silent --no-buffer --max-time 60 "$base/sse" -H "Authorization: Bearer $own" > "$stream" &
  listening=$!
  for _ in $(seq 100); do
    address=$base$(tr -d '\r' < "$stream" | sed -n 's/^data: //p') && [[ $address != "$base" ]] && break
    sleep 0.1
  done
  send "$own" '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},
    "clientInfo":{"name":"by-hand","version":"1"}}}'
  hear 1
  told 202 '"protocolVersion":"2024-11-05"'
  send "$own" '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  told 202 ''
}

# send TOKEN JSON: a message to the stream's address.
send() { ask "$address" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' --data "$2"; }

# hear ID: waits until the stream has this answer; body is the answer.
hear() {
  body=''
  for _ in $(seq 100); do
    body=$(grep "\"id\":$1[,}]" "$stream") && break
    sleep 0.1
  done
  printf '< the stream: %s\n' "$(head --bytes 300 <<< "$body")"
}

# over_sse METHOD PARAMS: a request on a new stream; body is what the stream has for it.
over_sse() {
  listen
  send "$own" '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'
  hear 2
  kill "$listening"
  wait "$listening" 2> /dev/null
}

# each COMMAND: once for each revision with a handshake that the vectors ask, with the suite of those vectors.
each() {
  "$1" http_2025_03_26 2025-03-26
  "$1" http_2025_06_18 2025-06-18
  "$1" methods 2025-11-25
}

PINGS='[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]'
CURSOR='"cursor":"conformance-no-such-cursor"'

# What the server has in common with and without sessions.
common() {
  finding 'batches are answered in revisions that have none'
  for asked in 2025-06-18 2025-11-25; do
    local suite=no_batch_${asked//-/_}
    handshake "$asked"
    post "$PINGS"
    told 200 '"result":\{\}.*"result":\{\}' "$suite/requests"
    post '[{"jsonrpc":"2.0","id":2,"method":"ping"}]'
    told 200 '"result":\{\}' "$suite/one-request"
    post '[{"jsonrpc":"2.0","method":"notifications/initialized"}]'
    told 202 '' "$suite/notifications"
    post '[]'
    told 202 '' "$suite/empty"
  done

  finding 'wrong parameters of `logging/setLevel` are -32603'
  each level
  call logging/setLevel '{"level":"ERROR"}'
  told 200 '"code":-32603.*Invalid option' methods/level-capitals
  call logging/setLevel '{"level":"error"}'
  told 200 '"result":\{\}'

  finding 'lists do not read the cursor'
  each cursor
  while read -r vector method wanted; do
    call "$method" "{$CURSOR}"
    told 200 "\"result\".*$wanted" "$vector"
  done << 'EOT'
methods/cursor-prompts prompts/list "name":"greet"
methods/cursor-resources resources/list "uri":"text://motto"
methods/cursor-templates resources/templates/list "uriTemplate":"page:
EOT

  finding 'a missing resource is -32602 in every revision'
  each resource

  finding 'an unknown tool is a result with `isError`'
  each tool

  finding 'names that every object has are found'
  handshake 2025-11-25
  call tools/call '{"name":"__proto__","arguments":{}}'
  told 200 '"text":"MCP error -32602: Tool __proto__ disabled"' methods/inherited-tool
  call tools/call '{"name":"constructor","arguments":{}}'
  told 200 '"text":"MCP error -32602: Tool constructor disabled"'
  call tools/list '{}'
  lacks constructor
}
level() {
  handshake "$2"
  call logging/setLevel '{"level":"conformance"}'
  told 200 '"code":-32603.*Invalid option' "$1/unknown-level"
}
cursor() {
  handshake "$2"
  call tools/list "{$CURSOR}"
  local vector=$1/cursor
  [[ $1 == methods ]] && vector=methods/cursor-tools
  told 200 '"result".*"name":"hello".*"name":"change_tools"' "$vector"
}
resource() {
  handshake "$2"
  call resources/read '{"uri":"conformance://no/such"}'
  told 200 '"code":-32602,.*conformance://no/such' "$1/unknown-resource"
}
tool() {
  handshake "$2"
  call tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
  told 200 '"text":"MCP error -32602: Tool conformance_no_such_tool not found"\}\],"isError":true' "$1/unknown-tool"
}

serve "$base/" node server.mjs "$port"

finding 'a session is not bound to its caller'
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
ask --request DELETE "$url" -H "Authorization: Bearer $other" -H "Mcp-Session-Id: $session" -H "MCP-Protocol-Version: $revision"
told 200 ''
token=$own
post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
told 404 'Session not found' session/other-caller-delete
token=made-up # a token is needed, any good one
post '{"jsonrpc":"2.0","id":2,"method":"ping"}'
told 401 'invalid_token'

finding 'batches of 2025-03-26 are passed over on standard input'
stdio 2025-03-26 '[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c","method":"ping"}]'
[[ ! $body =~ \"id\":(\"b\"|\"c\"|null) ]]
proven 'nothing for the batch' stdio_opening/batch-2025-03-26
handshake 2025-03-26 # over HTTP they are answered
post "$PINGS"
told 200 '"id":2.*"id":3'

common

finding '`initialize` of a wrong form is a request without session'
token=$own session='' revision=''
params='"params":{"protocolVersion":20251125,"capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}'
post '{"jsonrpc":"2.0","id":1,"method":"initialize"}'
told 400 '"code":-32000,"message":"Bad Request: No valid session ID provided"\},"id":null' initialize/no-params
post '{"jsonrpc":"2.0","id":1,"method":"initialize",'"$params}"
told 400 '"code":-32000,"message":"Bad Request: No valid session ID provided"\},"id":null' initialize/version-number

printf '\nthe transport of 2024-11-05:\n'

finding 'wrong parameters of `logging/setLevel` are -32603'
over_sse logging/setLevel '{"level":"conformance"}'
told 202 '"code":-32603.*Invalid option' sse/unknown-level
finding 'lists do not read the cursor'
over_sse tools/list "{$CURSOR}"
told 202 '"result".*"name":"hello"' sse/cursor
finding 'a missing resource is -32602 in every revision'
over_sse resources/read '{"uri":"conformance://no/such"}'
told 202 '"code":-32602' sse/unknown-resource
finding 'an unknown tool is a result with `isError`'
over_sse tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
told 202 '"text":"MCP error -32602: Tool conformance_no_such_tool not found"\}\],"isError":true' sse/unknown-tool

finding 'the older transport does not check Origin of its stream'
ask "$base/sse" --no-buffer --max-time 3 -H "Authorization: Bearer $own" -H 'Accept: text/event-stream' -H 'Origin: https://evil.example'
told 200 'event: endpoint' sse/origin-stream
# With the same options its messages are checked, and so is the other transport; Host is checked of all.
listen
ask "$address" -H "Authorization: Bearer $own" -H 'Content-Type: application/json' -H 'Origin: https://evil.example' \
  --data '{"jsonrpc":"2.0","id":2,"method":"ping"}'
told 403 'Invalid Origin header'
token=$own session='' revision=''
post '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},
  "clientInfo":{"name":"by-hand","version":"1"}}}' -H 'Origin: https://evil.example'
told 403 'Invalid Origin header'
ask "$base/sse" --max-time 3 -H "Authorization: Bearer $own" -H 'Host: evil.example'
told 403 'Invalid Host'

finding 'a stream takes messages of another caller'
send "$other" '{"jsonrpc":"2.0","id":2,"method":"ping"}'
hear 2
told 202 '"result":\{\}' sse/other-caller
send "$own" '{"jsonrpc":"2.0","id":9,"method":"ping"}'
hear 9
told 202 '"result":\{\}'
kill "$listening"
wait "$listening" 2> /dev/null

stop_server
serve "$base/" node server.mjs "$port" stateless
printf '\nwithout sessions:\n'
common

printf '\non standard input:\n'
stdio 2025-11-25 '{"jsonrpc":"2.0","id":"a","method":"logging/setLevel","params":{"level":"conformance"}}' \
  '{"jsonrpc":"2.0","id":"b","method":"tools/list","params":{'"$CURSOR"'}}' \
  '{"jsonrpc":"2.0","id":"c","method":"resources/read","params":{"uri":"conformance://no/such"}}' \
  '{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"conformance_no_such_tool","arguments":{}}}'
finding 'wrong parameters of `logging/setLevel` are -32603'
[[ $(said '"a"') == *'"code":-32603'* ]]
proven 'on standard input' stdio/unknown-level
finding 'lists do not read the cursor'
[[ $(said '"b"') == *'"result"'*'"name":"hello"'* ]]
proven 'on standard input' stdio/cursor
finding 'a missing resource is -32602 in every revision'
[[ $(said '"c"') == *'"code":-32602'* ]]
proven 'on standard input' stdio/unknown-resource
finding 'an unknown tool is a result with `isError`'
[[ $(said '"d"') == *'MCP error -32602: Tool conformance_no_such_tool not found'*'"isError":true'* ]]
proven 'on standard input' stdio/unknown-tool
