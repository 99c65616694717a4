# Findings of RESULTS.md in tmcp, by hand. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"
export NODE_ENV=production # as in target.json

serve "$base/" node server.mjs "$port"

finding 'any id is a session'
any_id() {
  handshake "$2"
  end_session
  told 200 "mcp-session-id: $session"
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 "mcp-session-id: $session.*\"name\":\"hello\"" "$1/session-ended"
  session=conformance-no-such-session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 'mcp-session-id: conformance-no-such-session.*"name":"hello"' "$1/session-unknown"
  initialize "$2" -H 'Mcp-Session-Id: conformance-chosen-by-the-client'
  told 200 'mcp-session-id: conformance-chosen-by-the-client.*"protocolVersion"' "$1/session-brought"
}
each any_id
# What a session holds is common to those who use its id: the level of the log that one sets is the other's too.
session=shared revision=2025-06-18
call tools/call '{"name":"log","arguments":{}}'
told 200 '"data":"It was called"'
call logging/setLevel '{"level":"error"}' # by somebody else, with the same id
told 200 '"result":\{\}'
call tools/call '{"name":"log","arguments":{}}'
told 200 '"text":"Done."'
lacks '"data":"It was called"'
# DELETE does something: it closes the stream, and what was set is forgotten.
(sleep 3; curl --silent --max-time 5 --request DELETE "$url" -H 'Mcp-Session-Id: shared' > "$work/ended") &
ask "$url" --no-buffer -H 'Accept: text/event-stream' -H 'Mcp-Session-Id: shared'
told 200 'text/event-stream'
lacks 'curl ended with 28' # the server closed it, not we
wait $!
call tools/call '{"name":"log","arguments":{}}'
told 200 '"data":"It was called"'

finding 'the revision in the header field is not read'
handshake 2025-06-18
revision=1999-01-01
post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
told 200 '"name":"hello"' http_2025_06_18/version-unknown
revision=2025-11-25 # one that there is, which it does not serve
post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
told 200 '"name":"hello"'
initialize 2025-11-25
told 200 '"protocolVersion":"2025-06-18"'

finding '`_meta` without capabilities is refused with 200'
modern tools/list '{"_meta":{'$version,$client'}}'
told 200 'data: .*"code":-32602' modern/meta-without-capabilities

finding 'without `_meta` the header field is told to differ'
while read -r vector params; do
  modern tools/list "$params"
  told 400 '"code":-32020' "modern/$vector"
done << EOT
meta-missing {}
meta-empty {"_meta":{}}
meta-without-version {"_meta":{$capabilities,$client}}
EOT

finding 'no batches in 2025-03-26'
handshake 2025-03-26
post "$PINGS"
told 400 '"code":-32600.*batch requests are not supported' batch_2025_03_26/requests
post '[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]'
told 400 '"code":-32600.*batch requests are not supported' batch_2025_03_26/notifications
say 4 node stdio.mjs << 'EOT'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
[{"jsonrpc":"2.0","id":"b","method":"ping"},{"jsonrpc":"2.0","id":"c","method":"ping"}]
{"jsonrpc":"2.0","id":"after","method":"ping"}
EOT
[[ $body == *'"protocolVersion":"2025-03-26"'*'"id":"after","result"'* && ! $body =~ \"id\":(\"b\"|\"c\"|null) ]]
proven 'the line before is answered, and the line after, the batch is not' stdio_opening/batch-2025-03-26

finding 'what there is not has a result'
nothing() {
  handshake "$2"
  call completion/complete '{"ref":{"type":"ref/prompt","name":"conformance_no_such_prompt"},"argument":{"name":"a","value":""}}'
  told 200 '"id":2,"result":null' "$1/completion-unknown"
  call tools/list "{$CURSOR}"
  told 200 '"result":\{"tools":\[\]\}' "$1/cursor"
  call tools/call '{"name":"conformance_no_such_tool","arguments":{}}'
  told 200 '"isError":true.*Tool conformance_no_such_tool not found' "$1/unknown-tool"
}
each nothing
modern completion/complete '{"ref":{"type":"ref/prompt","name":"conformance_no_such_prompt"},"argument":{"name":"a","value":""},'"$meta}"
told 200 '"result":\{"resultType":"complete"' modern_methods/completion-unknown
lacks '"completion"'
modern tools/call '{"name":"conformance_no_such_tool","arguments":{},'"$meta}" -H 'Mcp-Name: conformance_no_such_tool'
told 200 '"isError":true.*Tool conformance_no_such_tool not found' modern_methods/unknown-tool
# The list of tools has pages here, and ends with this cursor; the others have one page, and begin again.
while read -r vector method wanted; do
  modern "$method" "{$CURSOR,$meta}"
  told 200 "$wanted" "$vector"
  lacks '"error"'
done << 'EOT'
modern/cursor tools/list "tools":\[\]
modern_methods/error-not-cached prompts/list "name":"greet"
modern_methods/cursor-resources resources/list "uri":"text://motto"
modern_methods/cursor-templates resources/templates/list "name":"page"
EOT
say 3 node stdio.mjs <<< '{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{'"$CURSOR,$meta}}"
[[ $body == *'"id":"a","result":{"tools":[]'* ]]
proven 'an empty list' stdio_opening/modern-cursor

finding 'any level of the log is taken'
each level '"result":\{\}'

finding 'on standard input a cancelled request is answered'
slow='"method":"tools/call","params":{"name":"slow","arguments":{},'
# cancel_slow: begins the tool, waits until it says that it runs, cancels it; body is what was said until the tool, called
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
proven 'the result of what was cancelled' stdio_opening/modern-cancelled

finding 'a missing resource is -32602 in every revision'
each resource '"code":-32602,.*Resource conformance://no/such not found'
