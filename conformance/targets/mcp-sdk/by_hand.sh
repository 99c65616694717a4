# Findings of RESULTS.md in @modelcontextprotocol/sdk, by hand, including those that it shares with
# @modelcontextprotocol/server. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
export NODE_ENV=production # as in target.json
own=good-token-Lw83kd other=other-token-Vr95xc # of two clients
suites+=(methods:2025-11-25)

# listen: opens a stream of 2024-11-05 in the background, as the first client; sets address to its endpoint.
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
  wait_for_response 1
  expect 202 '"protocolVersion":"2024-11-05"'
  send "$own" '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  expect 202 ''
}

# send TOKEN JSON: posts a message to the stream's endpoint.
send() { request "$address" -H "Authorization: Bearer $1" -H 'Content-Type: application/json' --data "$2"; }

# wait_for_response ID: waits until the stream has the response; sets body to it.
wait_for_response() {
  body=''
  for _ in $(seq 100); do
    body=$(grep "\"id\":$1[,}]" "$stream") && break
    sleep 0.1
  done
  printf '< the stream: %s\n' "$(head --bytes 300 <<< "$body")"
}

# over_sse METHOD PARAMS: sends a request on a new stream; sets body to the response.
over_sse() {
  listen
  send "$own" '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}'
  wait_for_response 2
  kill "$listening"
  wait "$listening" 2> /dev/null
}

# Findings with and without sessions.
common() {
  finding 'batches are answered in revisions that have none'
  for asked in 2025-06-18 2025-11-25; do
    local suite=no_batch_${asked//-/_}
    batches "$suite" "$asked"
    post '[]'
    expect 202 '' "$suite/empty"
  done

  finding 'wrong parameters of `logging/setLevel` are -32603'
  levels

  finding 'lists do not read the cursor'
  cursors change_tools

  finding 'a missing resource is -32602 in every revision'
  for_each_suite resource '"code":-32602,.*conformance://no/such'

  finding 'an unknown tool is a result with `isError`'
  for_each_suite tool

  finding 'names that every object has are found'
  handshake 2025-11-25
  call tools/call '{"name":"__proto__","arguments":{}}'
  expect 200 '"text":"MCP error -32602: Tool __proto__ disabled"' methods/inherited-tool
  call tools/call '{"name":"constructor","arguments":{}}'
  expect 200 '"text":"MCP error -32602: Tool constructor disabled"'
  call tools/list '{}'
  expect_no constructor
}
tool() {
  handshake "$2"
  call tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
  expect 200 '"text":"MCP error -32602: Tool conformance_no_such_tool not found"\}\],"isError":true' "$1/unknown-tool"
}

serve "$base/" node server.mjs "$port"

finding 'a session is not bound to its caller'
other_caller

finding 'batches of 2025-03-26 are passed over on standard input'
batch_on_stdio

common

finding '`initialize` of a wrong form is a request without session'
wrong_initialize 400 '"code":-32000,"message":"Bad Request: No valid session ID provided"\},"id":null' initialize

printf '\nthe transport of 2024-11-05:\n'

finding 'wrong parameters of `logging/setLevel` are -32603'
over_sse logging/setLevel '{"level":"conformance"}'
expect 202 '"code":-32603.*Invalid option' sse/unknown-level
finding 'lists do not read the cursor'
over_sse tools/list "{$CURSOR}"
expect 202 '"result".*"name":"hello"' sse/cursor
finding 'a missing resource is -32602 in every revision'
over_sse resources/read '{"uri":"conformance://no/such"}'
expect 202 '"code":-32602' sse/unknown-resource
finding 'an unknown tool is a result with `isError`'
over_sse tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
expect 202 '"text":"MCP error -32602: Tool conformance_no_such_tool not found"\}\],"isError":true' sse/unknown-tool

finding 'the older transport does not check Origin of its stream'
request "$base/sse" --no-buffer --max-time 3 -H "Authorization: Bearer $own" -H 'Accept: text/event-stream' -H 'Origin: https://evil.example'
expect 200 'event: endpoint' sse/origin-stream
# With the same options it checks Origin of messages and of the other transport, and Host everywhere.
listen
request "$address" -H "Authorization: Bearer $own" -H 'Content-Type: application/json' -H 'Origin: https://evil.example' \
  --data '{"jsonrpc":"2.0","id":2,"method":"ping"}'
expect 403 'Invalid Origin header'
initialize 2025-11-25 -H 'Origin: https://evil.example'
expect 403 'Invalid Origin header'
request "$base/sse" --max-time 3 -H "Authorization: Bearer $own" -H 'Host: evil.example'
expect 403 'Invalid Host'

finding 'a stream takes messages of another caller'
send "$other" '{"jsonrpc":"2.0","id":2,"method":"ping"}'
wait_for_response 2
expect 202 '"result":\{\}' sse/other-caller
send "$own" '{"jsonrpc":"2.0","id":9,"method":"ping"}'
wait_for_response 9
expect 202 '"result":\{\}'
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
  '{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"name":"conformance_no_such_tool","arguments":{}}}' \
  '{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"hello","arguments":{},"task":{"ttl":60000}}}' \
  '{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"hello","arguments":{},"task":{}}}' \
  '{"jsonrpc":"2.0","id":"g","method":"tools/call","params":{"name":"hello","arguments":{},"task":{"ttl":9007199254740991}}}'
finding 'wrong parameters of `logging/setLevel` are -32603'
[[ $(response_line '"a"') == *'"code":-32603'* ]]
check 'on standard input' stdio/unknown-level
finding 'lists do not read the cursor'
[[ $(response_line '"b"') == *'"result"'*'"name":"hello"'* ]]
check 'on standard input' stdio/cursor
finding 'a missing resource is -32602 in every revision'
[[ $(response_line '"c"') == *'"code":-32602'* ]]
check 'on standard input' stdio/unknown-resource
finding 'an unknown tool is a result with `isError`'
[[ $(response_line '"d"') == *'MCP error -32602: Tool conformance_no_such_tool not found'*'"isError":true'* ]]
check 'on standard input' stdio/unknown-tool
finding 'a call with `task` is refused by a server without tasks'
[[ $(response_line '"e"') == *'"code":-32603'* ]]
check 'on standard input' core_tasks/ignored
[[ $(response_line '"f"') == *'"code":-32603'* ]]
check 'on standard input' core_tasks/ignored-empty
[[ $(response_line '"g"') == *'"code":-32603'* ]]
check 'on standard input' core_tasks/ignored-unlimited
