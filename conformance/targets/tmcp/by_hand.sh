# Findings of RESULTS.md in tmcp, by hand. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
export NODE_ENV=production # as in target.json

serve "$base/" node server.mjs "$port"

finding 'any id is a session'
any_id() {
  handshake "$2"
  end_session
  expect 200 "mcp-session-id: $session"
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 "mcp-session-id: $session.*\"name\":\"hello\"" "$1/session-ended"
  session=conformance-no-such-session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 'mcp-session-id: conformance-no-such-session.*"name":"hello"' "$1/session-unknown"
  initialize "$2" -H 'Mcp-Session-Id: conformance-chosen-by-the-client'
  expect 200 'mcp-session-id: conformance-chosen-by-the-client.*"protocolVersion"' "$1/session-brought"
}
for_each_suite any_id
# Clients that use the same session id share its state: the log level of one is that of the other.
session=shared revision=2025-06-18
call tools/call '{"name":"log","arguments":{}}'
expect 200 '"data":"It was called"'
call logging/setLevel '{"level":"error"}' # by another client, with the same id
expect 200 '"result":\{\}'
call tools/call '{"name":"log","arguments":{}}'
expect 200 '"text":"Done."'
expect_no '"data":"It was called"'
# DELETE has an effect: it closes the stream and resets the state.
(sleep 3; curl --silent --max-time 5 --request DELETE "$url" -H 'Mcp-Session-Id: shared' > "$work/ended") &
request "$url" --no-buffer -H 'Accept: text/event-stream' -H 'Mcp-Session-Id: shared'
expect 200 'text/event-stream'
expect_no 'curl ended with 28' # the server closed it, not the client
wait $!
call tools/call '{"name":"log","arguments":{}}'
expect 200 '"data":"It was called"'

finding 'the revision in the header field is not read'
handshake 2025-06-18
revision=1999-01-01
post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
expect 200 '"name":"hello"' http_2025_06_18/version-unknown
revision=2025-11-25 # a known revision that it does not support
post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
expect 200 '"name":"hello"'
initialize 2025-11-25
expect 200 '"protocolVersion":"2025-06-18"'

finding '`_meta` without capabilities is refused with 200'
modern tools/list '{"_meta":{'$version,$client'}}'
expect 200 'data: .*"code":-32602' modern/meta-without-capabilities

finding 'without `_meta` the error is a header mismatch'
while read -r vector params; do
  modern tools/list "$params"
  expect 400 '"code":-32020' "modern/$vector"
done << EOT
meta-missing {}
meta-empty {"_meta":{}}
meta-without-version {"_meta":{$capabilities,$client}}
EOT

finding 'no batches in 2025-03-26'
handshake 2025-03-26
post "$PINGS"
expect 400 '"code":-32600.*batch requests are not supported' batch_2025_03_26/requests
post '[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]'
expect 400 '"code":-32600.*batch requests are not supported' batch_2025_03_26/notifications
send_lines 4 node stdio.mjs << 'EOT'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c","method":"ping"}]
{"jsonrpc":"2.0","id":"after","method":"ping"}
EOT
[[ $body == *'"protocolVersion":"2025-03-26"'*'"id":"after","result"'* && ! $body =~ \"id\":(\"b\"|\"c\"|null) ]]
check 'the lines before and after have a response, the batch has none' stdio_opening/batch-2025-03-26

finding 'what there is not has a result'
nothing() {
  handshake "$2"
  call completion/complete '{"ref":{"type":"ref/prompt","name":"conformance_no_such_prompt"},"argument":{"name":"a","value":""}}'
  expect 200 '"id":2,"result":null' "$1/completion-unknown"
  call tools/list "{$CURSOR}"
  expect 200 '"result":\{"tools":\[\]\}' "$1/cursor"
  call tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
  expect 200 '"isError":true.*Tool conformance_no_such_tool not found' "$1/unknown-tool"
}
for_each_suite nothing
modern completion/complete '{"ref":{"type":"ref/prompt","name":"conformance_no_such_prompt"},"argument":{"name":"a","value":""},'"$meta}"
expect 200 '"result":\{"resultType":"complete"' modern_methods/completion-unknown
expect_no '"completion"'
modern tools/call '{"name":"conformance_no_such_tool","arguments":{},'"$meta}" -H 'Mcp-Name: conformance_no_such_tool'
expect 200 '"isError":true.*Tool conformance_no_such_tool not found' modern_methods/unknown-tool
# The list of tools has pages and ends at this cursor; the other lists have one page and start again.
while read -r vector method wanted; do
  modern "$method" "{$CURSOR,$meta}"
  expect 200 "$wanted" "$vector"
  expect_no '"error"'
done << 'EOT'
modern/cursor tools/list "tools":\[\]
modern_methods/error-not-cached prompts/list "name":"greet"
modern_methods/cursor-resources resources/list "uri":"text://motto"
modern_methods/cursor-templates resources/templates/list "name":"page"
EOT
send_lines 3 node stdio.mjs <<< '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{'"$CURSOR,$meta}}"
[[ $body == *'"id":"a","result":{"tools":[]'* ]]
check 'an empty list' stdio_opening/modern-cursor

finding 'any level of the log is taken'
for_each_suite level '"result":\{\}'

finding 'on standard input a cancelled request is answered'
slow='"method":"tools/call","params":{"name":"slow","arguments":{},'
# cancel_slow: begins the tool, waits for its progress, cancels it; body is the output until the tool, called
# once more, has answered.
cancel_slow() {
  coproc tool { exec node stdio.mjs; }
  local out=${tool[0]} in=${tool[1]} process=$tool_PID line
  local cancel='{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}'
  echo '{"jsonrpc":"2.0","id":"slow",'"$slow${meta%?},\"progressToken\":\"by-hand\"}}}" >&"$in"
  body=''
  while IFS= read -r -t 20 line <&"$out"; do
    echo "< $line"
    body+=$line$'\n'
    if [[ $line == *'"notifications/progress"'* ]]; then
      echo "> $cancel"
      printf '%s\n' "$cancel" '{"jsonrpc":"2.0","id":"after",'"$slow$meta}}" >&"$in"
    fi
    [[ $line != *'"id":"after"'* ]] || break
  done
  kill "$process" 2> /dev/null
  wait "$process" 2> /dev/null
}
cancel_slow
[[ $body == *'"notifications/progress"'*'"id":"slow","result":{"content":[{"type":"text","text":"Done."}]'* ]]
check 'the result of the cancelled request' stdio_opening/modern-cancelled

finding 'a missing resource is -32602 in every revision'
for_each_suite resource '"code":-32602,.*Resource conformance://no/such not found'
