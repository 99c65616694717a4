# Findings of RESULTS.md in @modelcontextprotocol/server, by hand. See ../by_hand.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand.sh"
export NODE_ENV=production # as in target.json
port=$(free_port)
url=http://127.0.0.1:$port/mcp
own=good-token-Lw83kd other=other-token-Vr95xc # of two clients
token=$own session='' revision=''              # what `post` sends along, where there is any
MODERN=2026-07-28
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"'$MODERN'","io.modelcontextprotocol/clientCapabilities":{},'
meta+='"io.modelcontextprotocol/clientInfo":{"name":"by-hand","version":"1"}}'

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

# modern METHOD PARAMS: a request of 2026-07-28, without handshake.
modern() {
  session='' revision=$MODERN
  post '{"jsonrpc":"2.0","id":2,"method":"'"$1"'","params":'"$2"'}' -H "Mcp-Method: $1"
}

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

# each COMMAND: once for each revision with a handshake that the vectors ask, with the suite of those vectors.
each() {
  "$1" http_2025_03_26 2025-03-26
  "$1" http_2025_06_18 2025-06-18
  "$1" methods 2025-11-25
}

PINGS='[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]'
CURSOR='"cursor":"conformance-no-such-cursor"'

# What server.mjs, with sessions, and stateless.mjs, without, have in common.
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
    told 400 '"error"'
  done

  finding 'wrong parameters of `logging/setLevel` are -32603'
  each level
  call logging/setLevel '{"level":"ERROR"}'
  told 200 '"code":-32603.*Invalid option' methods/level-capitals
  call logging/setLevel '{"level":"error"}'
  told 200 '"result":\{\}'
  call resources/read '{}' # so with other methods, but not with tools
  told 200 '"code":-32603'
  call tools/call '{}'
  told 200 '"code":-32602'

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
  while read -r vector method wanted; do
    modern "$method" "{$CURSOR,$meta}"
    told 200 "\"result\".*$wanted" "$vector"
  done << 'EOT'
modern/cursor tools/list "name":"hello"
modern_methods/error-not-cached prompts/list "name":"greet"
modern_methods/cursor-resources resources/list "uri":"text://motto"
modern_methods/cursor-templates resources/templates/list "uriTemplate":"page:
EOT

  finding 'a missing resource is -32602 in every revision'
  each resource
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
  told 200 '"result".*"name":"hello".*"name":"change_prompts"' "$vector"
}
resource() {
  handshake "$2"
  call resources/read '{"uri":"conformance://no/such"}'
  told 200 '"code":-32602,.*conformance://no/such' "$1/unknown-resource"
}

serve "http://127.0.0.1:$port/" node server.mjs "$port"

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
told 400 '"code":-32000,"message":"Bad Request: Session ID required"\},"id":null' initialize/no-params
post '{"jsonrpc":"2.0","id":1,"method":"initialize",'"$params}"
told 400 '"code":-32000,"message":"Bad Request: Session ID required"\},"id":null' initialize/version-number
post '{"jsonrpc":"2.0"' # text that is not JSON, of which the section tells below its table
told 400 '<!DOCTYPE html>'

stop_server
serve "http://127.0.0.1:$port/" node stateless.mjs "$port"
printf '\nwithout sessions, stateless.mjs:\n'
common

finding '`initialize` of a wrong form is a request without session'
token=$own session='' revision=''
post '{"jsonrpc":"2.0","id":1,"method":"initialize"}' # here it has its id, and the code of all parameters of a wrong form
told 200 '"id":1,"error":\{"code":-32603'
post '{"jsonrpc":"2.0","id":1,"method":"initialize",'"$params}"
told 200 '"id":1,"error":\{"code":-32603'
post '{"jsonrpc":"2.0"'
told 400 '"code":-32700'

finding 'wrong parameters of `logging/setLevel` are -32603'
stdio 2025-11-25 '{"jsonrpc":"2.0","id":"a","method":"logging/setLevel","params":{"level":"conformance"}}' \
  '{"jsonrpc":"2.0","id":"b","method":"tools/list","params":{'"$CURSOR"'}}' \
  '{"jsonrpc":"2.0","id":"c","method":"resources/read","params":{"uri":"conformance://no/such"}}'
[[ $(said '"a"') == *'"code":-32603'* ]]
proven 'on standard input' stdio/unknown-level
finding 'lists do not read the cursor'
[[ $(said '"b"') == *'"result"'*'"name":"hello"'* ]]
proven 'on standard input' stdio/cursor
finding 'a missing resource is -32602 in every revision'
[[ $(said '"c"') == *'"code":-32602'* ]]
proven 'on standard input' stdio/unknown-resource
finding 'lists do not read the cursor'
say 4 node stdio.mjs <<< '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{'"$CURSOR,$meta}}"
[[ $(said '"a"') == *'"result"'*'"name":"hello"'* ]]
proven 'the whole list' stdio_opening/modern-cursor

finding '`toNodeHandler` sends no header fields before the first byte of a body'
stop_server
# The status and header fields are there at once, the first byte of the body after four seconds.
serve "http://127.0.0.1:$port/" node --input-type=module -e '
  import { createServer } from "node:http";
  import { toNodeHandler } from "@modelcontextprotocol/node";
  const fetch = (request) => request.url.endsWith("/") ? new Response("ready") : new Response(new ReadableStream({
    start(stream) { setTimeout(() => { stream.enqueue(new TextEncoder().encode(": keep-alive\n\n")); stream.close(); }, 4000); },
  }), { headers: { "Content-Type": "text/event-stream" } });
  createServer(toNodeHandler({ fetch })).listen(process.argv[1], "127.0.0.1");' "$port"
ask "http://127.0.0.1:$port/stream" --max-time 2
[[ $status == 000 && $body == 'curl ended with 28'* ]]
proven 'within two seconds, neither status nor header fields'
ask "http://127.0.0.1:$port/stream"
told 200 'keep-alive'
