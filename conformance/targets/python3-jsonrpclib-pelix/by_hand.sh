# Findings of RESULTS.md in jsonrpclib-pelix, by hand. See ../by_hand_jsonrpc.sh. Debian package
# python3-jsonrpclib-pelix.
#
#     bash conformance/targets/python3-jsonrpclib-pelix/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" /usr/bin/python3 server.py "$port"

finding 'an empty text as id makes a notification'
call '"jsonrpc": "2.0", "id": ""'
expect_empty 200 request/id-empty
call '"jsonrpc": "2.0", "id": null'
expect_empty 200 request/id-null
# The method runs nevertheless.
body=$(/usr/bin/python3 -c '
from jsonrpclib.SimpleJSONRPCServer import SimpleJSONRPCDispatcher
server = SimpleJSONRPCDispatcher()
server.register_function(lambda: print("done"), "tell")
for id in ("\"\"", "null"):
    print([server._marshaled_dispatch("{\"jsonrpc\": \"2.0\", \"id\": %s, \"method\": \"tell\"}" % id)])')
echo "< ${body//$'\n'/ }"
[[ ${body//$'\n'/ } == "done [''] done ['']" ]]
check 'the method runs, and the response is empty'
rpc '{"jsonrpc": "2.0", "id": 0, "method": "get_data"}' # the number 0 is an id
expect_json 200 '{"jsonrpc": "2.0", "id": 0, "result": ["hello", 5]}'

finding 'NaN is read, and written'
rpc '{"jsonrpc": "2.0", "method": "x", "id": NaN}'
expect 200 '"id": NaN,.*-32601' parse_error/not-a-number
rpc '{"jsonrpc": "2.0", "id": 1, "method": "sum", "params": [NaN]}'
expect 200 '"result": NaN'

finding 'the value of jsonrpc is not read, nor the type of id'
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  expect_json 200 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}' "invalid_request/jsonrpc-${each%%:*}"
done
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  expect_json 200 "{\"jsonrpc\": \"2.0\", \"id\": ${each#*:}, \"error\": {\"code\": -32601}}" "invalid_request/id-${each%%:*}"
done
rpc '{"jsonrpc": 2, "id": {}, "method": "get_data"}'
expect_json 200 '{"jsonrpc": "2.0", "id": {}, "result": ["hello", 5]}'

# Findings beside the table of the section: JSON-RPC 1.0,
echo
call '"id": "a", "params": {}'
expect_json 200 '{"id": "a", "result": null, "error": {"code": -32601}}'
rpc '{"id": 1, "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}}' # 1.0 has only arrays
expect_json 200 '{"id": 1, "result": 19, "error": null}'
rpc '{"id": 1, "method": "get_data"}' # and requires them
expect_json 200 '{"id": 1, "result": ["hello", 5], "error": null}'
# and error messages.
echo
rpc '{"jsonrpc": "2.0", "note": "mine"'
expect 200 '-32700, "message": "Request .*mine.* invalid'
rpc "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"sum\", \"params\": [0.5, 1$(printf '0%.0s' {1..400})]}" # too large for a float
expect 200 '-32603, "message": "Server error: File .*server\.py.*, line [0-9]+, in add_up \| OverflowError: int too large'
