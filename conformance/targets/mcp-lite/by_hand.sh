# Findings of RESULTS.md in mcp-lite, by hand. See ../by_hand_mcp.sh.
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_mcp.sh"

serve "$base/" node server.mjs "$port"

finding 'any id is a session for `POST`'
any_id() {
  handshake "$2"
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"'
  end_session
  told 200 '' # it says that it ended the session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"' "$1/session-ended"
  lacks '"error"'
  session=conformance-no-such-session
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 200 '"name":"hello"' "$1/session-unknown"
  lacks '"error"'
  # A stream is refused, and so is a request without any id: the header field is looked for, not looked up.
  ask "$url" -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $session"
  told 400 'Invalid or missing session ID'
  session=''
  post '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
  told 400 'Missing required session ID'
}
each any_id

finding 'a batch of notifications has an empty list'
handshake 2025-03-26
post '[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]'
[[ $status == 200 && $body == '[]' ]]
proven '200, []' batch_2025_03_26/notifications
post '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}' # alone it is right
told 202 ''

finding 'a missing resource is -32601'
missing() {
  resource "$1" "$2" '"code":-32601,"message":"Method not found","data":\{"uri":"conformance://no/such"\}'
  call resources/read '{"uri":"text://motto"}' # the method is there
  told 200 '"text":"Ask."'
}
each missing

finding 'lists do not read the cursor'
each cursor '"name":"hello".*"name":"echo".*"name":"steps"'
