# Findings of RESULTS.md in json-rpc (python3-jsonrpc), by hand. See ../by_hand_jsonrpc.sh. Debian package
# python3-jsonrpc.
#
#     bash conformance/targets/python3-jsonrpc/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" /usr/bin/python3 server.py "$port"

invalid='{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}'
unknown='{"jsonrpc": "2.0", "id": "a", "error": {"code": -32601}}'

finding 'a request without jsonrpc may throw'
rpc '{"id": "a", "method": "conformance.no_such_method", "params": {}}'
expect 500 'A server error occurred' invalid_request/jsonrpc-missing # the standard library's, for an uncaught exception
rpc '{"id": "a", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}}'
expect 500 'A server error occurred'
grep --quiet '^ValueError: Incorrect params' "$work/server.log"
check 'the log has its traceback: ValueError'
body=$(/usr/bin/python3 -c '
from jsonrpc import JSONRPCResponseManager
try:
    JSONRPCResponseManager.handle("{\"id\": 1, \"method\": \"x\", \"params\": {}}", {})
except Exception as error:
    print(type(error).__name__, error)')
echo "< $body"
[[ $body == 'ValueError Incorrect params {}' ]]
check 'handle raises ValueError, without a server'
rpc '{"id": "a", "method": "subtract", "params": [42, 23]}' # a complete request of 1.0
expect_json 200 '{"id": "a", "result": 19}'

finding 'one value that is no request spoils its batch'
rpc '[1]'
expect_json 200 "$invalid" batch/one-number examples/batch-of-one-number
rpc '[1, 2, 3]'
expect_json 200 "$invalid" batch/three-numbers examples/batch-of-numbers
rpc '[{"foo": "boo"}, {"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]'
expect_json 200 "$invalid" batch/bad-beside-good
rpc "$mixed"
expect_json 200 "$invalid" examples/batch-mixed
body=$(/usr/bin/python3 -c '
from jsonrpc import JSONRPCResponseManager
for number, beside in enumerate(["", ", 1"]):
    batch = "[{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tell\"}%s]" % beside
    JSONRPCResponseManager.handle(batch, {"tell": lambda: print("done", number)})')
[[ $body == 'done 0' ]]
check 'the request beside it does not run'

finding 'NaN is read, and written'
rpc '{"jsonrpc": "2.0", "method": "x", "id": NaN}'
expect_json 200 "$invalid" parse_error/not-a-number
rpc '{"jsonrpc": "2.0", "id": 1, "method": "sum", "params": [NaN]}'
expect 200 '"result": NaN'

finding 'an id with a fraction or an exponent is refused'
call '"jsonrpc": "2.0", "id": 1.5'
expect_json 200 "$invalid" request/id-fraction
call '"jsonrpc": "2.0", "id": 1e3' # a thousand
expect_json 200 "$invalid" request/id-exponent

finding 'the value of jsonrpc is not read; true passes as an id'
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  expect_json 200 "$unknown" "invalid_request/jsonrpc-${each%%:*}"
done
rpc '{"jsonrpc": "1.0", "id": 1, "method": "subtract", "params": [42, 23]}'
expect_json 200 '{"jsonrpc": "2.0", "id": 1, "result": 19}'
call '"jsonrpc": "2.0", "id": true'
expect_json 200 '{"jsonrpc": "2.0", "id": true, "error": {"code": -32601}}' invalid_request/id-boolean

finding 'params that are null count as left out'
rpc '{"jsonrpc": "2.0", "id": "a", "method": "get_data", "params": null}'
expect_json 200 '{"jsonrpc": "2.0", "id": "a", "result": ["hello", 5]}' examples/params-null
