# Findings of RESULTS.md in mcp-lite, by hand. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"

serve "$base/" node server.mjs "$port"

finding 'any id is a session for `POST`'
any_id() {
  handshake "$2"
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 '"name":"hello"'
  end_session
  expect 200 '' # it confirms the end of the session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 '"name":"hello"' "$1/session-ended"
  expect_no '"error"'
  session=conformance-no-such-session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 200 '"name":"hello"' "$1/session-unknown"
  expect_no '"error"'
  # A stream and a request without an id are refused: the server checks that the header exists, not its value.
  request "$url" -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $session"
  expect 400 'Invalid or missing session ID'
  session=''
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  expect 400 'Missing required session ID'
}
for_each_suite any_id

finding 'a batch of notifications has an empty list'
handshake 2025-03-26
post '[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]'
[[ $status == 200 && $body == '[]' ]]
check '200, []' batch_2025_03_26/notifications
post '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}' # alone, the response is right
expect 202 ''

finding 'a missing resource is -32601'
missing() {
  resource "$1" "$2" '"code":-32601,"message":"Method not found","data":\{"uri":"conformance://no/such"\}'
  call resources/read '{"uri":"text://motto"}' # the method exists
  expect 200 '"text":"Ask."'
}
for_each_suite missing

finding 'lists do not read the cursor'
for_each_suite cursor '"name":"hello".*"name":"echo".*"name":"steps"'
