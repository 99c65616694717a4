# Findings of RESULTS.md in @modelcontextprotocol/server, by hand. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
export NODE_ENV=production # as in target.json
own=good-token-Lw83kd other=other-token-Vr95xc # of two clients
suites+=(methods:2025-11-25)

# Findings of both server.mjs (with sessions) and stateless.mjs (without).
common() {
  finding 'batches are answered in revisions that have none'
  for asked in 2025-06-18 2025-11-25; do
    batches "no_batch_${asked//-/_}" "$asked"
    post '[]'
    expect 400 '"error"'
  done

  finding 'wrong parameters of `logging/setLevel` are -32603'
  levels
  call resources/read '{}' # the same with other methods, but not with tools
  expect 200 '"code":-32603'
  call tools/call '{}'
  expect 200 '"code":-32602'

  finding 'lists do not read the cursor'
  cursors change_prompts
  while read -r vector method wanted; do
    modern "$method" "{$CURSOR,$meta}"
    expect 200 "\"result\".*$wanted" "$vector"
  done << 'EOT'
modern/cursor tools/list "name":"hello"
modern_methods/error-not-cached prompts/list "name":"greet"
modern_methods/cursor-resources resources/list "uri":"text://motto"
modern_methods/cursor-templates resources/templates/list "uriTemplate":"page:
EOT

  finding 'a missing resource is -32602 in every revision'
  for_each_suite resource '"code":-32602,.*conformance://no/such'
}

serve "$base/" node server.mjs "$port"

finding 'a session is not bound to its caller'
other_caller

finding 'batches of 2025-03-26 are passed over on standard input'
batch_on_stdio

common

finding '`initialize` of a wrong form is a request without session'
wrong_initialize 400 '"code":-32000,"message":"Bad Request: Session ID required"\},"id":null' initialize
post '{"jsonrpc":"2.0"' # text that is not JSON; see below the table of the section
expect 400 '<!DOCTYPE html>'

stop_server
serve "$base/" node stateless.mjs "$port"
printf '\nwithout sessions, stateless.mjs:\n'
common

finding '`initialize` of a wrong form is a request without session'
wrong_initialize 200 '"id":1,"error":\{"code":-32603' # here the error has the id, and the code of all malformed params
post '{"jsonrpc":"2.0"'
expect 400 '"code":-32700'

finding 'wrong parameters of `logging/setLevel` are -32603'
stdio 2025-11-25 '{"jsonrpc":"2.0","id":"a","method":"logging/setLevel","params":{"level":"conformance"}}' \
  '{"jsonrpc":"2.0","id":"b","method":"tools/list","params":{'"$CURSOR"'}}' \
  '{"jsonrpc":"2.0","id":"c","method":"resources/read","params":{"uri":"conformance://no/such"}}'
[[ $(response_line '"a"') == *'"code":-32603'* ]]
check 'on standard input' stdio/unknown-level
finding 'lists do not read the cursor'
[[ $(response_line '"b"') == *'"result"'*'"name":"hello"'* ]]
check 'on standard input' stdio/cursor
finding 'a missing resource is -32602 in every revision'
[[ $(response_line '"c"') == *'"code":-32602'* ]]
check 'on standard input' stdio/unknown-resource
finding 'lists do not read the cursor'
send_lines 4 node stdio.mjs <<< '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{'"$CURSOR,$meta}}"
[[ $(response_line '"a"') == *'"result"'*'"name":"hello"'* ]]
check 'the whole list' stdio_opening/modern-cursor

finding '`toNodeHandler` sends no header fields before the first byte of a body'
stop_server
# Status and headers are available immediately, the first byte of the body after four seconds.
serve "$base/" node --input-type=module -e '
  import { createServer } from "node:http";
  import { toNodeHandler } from "@modelcontextprotocol/node";
  const fetch = (request) => request.url.endsWith("/") ? new Response("ready") : new Response(new ReadableStream({
    start(stream) { setTimeout(() => { stream.enqueue(new TextEncoder().encode(": keep-alive\n\n")); stream.close(); }, 4000); },
  }), { headers: { "Content-Type": "text/event-stream" } });
  createServer(toNodeHandler({ fetch })).listen(process.argv[1], "127.0.0.1");' "$port"
request "$base/stream" --max-time 2
[[ $status == 000 && $body == 'curl ended with 28'* ]]
check 'within two seconds, neither status nor header fields'
request "$base/stream"
expect 200 'keep-alive'
