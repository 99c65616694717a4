# Findings of RESULTS.md in aria2, by hand. See ../by_hand_jsonrpc.sh. Debian package aria2.
#
#     bash conformance/targets/aria2/by_hand.sh
source "$(dirname "${BASH_SOURCE[0]}")/../by_hand_jsonrpc.sh"
serve "$url" aria2c --no-conf --enable-rpc --rpc-listen-port="$port" --quiet
url+=jsonrpc # where it takes requests

invalid='{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}'
program='{"jsonrpc": "2.0", "id": "a", "error": {"code": 1}}' # the code is the program's own

finding 'no notifications over HTTP'
call '"jsonrpc": "2.0"'
same 400 "$invalid" notification/unknown
call '"jsonrpc": "2.0", "params": {"a": 1}'
same 400 "$invalid" notification/by-name
call '"jsonrpc": "2.0", "params": [1, 2]'
same 400 "$invalid" notification/by-position
for params in '' ', "params": []' ', "params": {}'; do
  call "\"jsonrpc\": \"2.0\"$params"
  same 400 "$invalid" notification/several
done
rpc '[{"jsonrpc": "2.0", "method": "conformance.no_such_method"},
  {"jsonrpc": "2.0", "method": "conformance.no_such_method", "params": []}]'
same 200 "[$invalid, $invalid]" batch/notifications-alone
rpc '[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"},
  {"jsonrpc": "2.0", "method": "conformance.no_such_method"}]'
same 200 "[$program, $invalid]" batch/request-and-notification
# It is not done either: the option stays what it was.
rpc '{"jsonrpc": "2.0", "method": "aria2.changeGlobalOption", "params": [{"max-concurrent-downloads": "9"}]}'
same 400 "$invalid"
rpc '{"jsonrpc": "2.0", "id": 1, "method": "aria2.getGlobalOption"}'
told 200 '"max-concurrent-downloads":"5"'

finding 'no numbers with a fraction'
call '"jsonrpc": "2.0", "id": 1.5'
same 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' request/id-fraction
call '"jsonrpc": "2.0", "id": 1e3' # a thousand
same 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' request/id-exponent

finding 'an unknown method has a code of the program'
call '"jsonrpc": "2.0", "id": "a", "params": []'
same 400 "$program" request/unknown-method-positions
for each in empty: constructor:constructor proto:__proto__ tostring:toString hasownproperty:hasOwnProperty \
  reserved:rpc.conformance_no_such_extension; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"${each#*:}\"}"
  same 400 "$program" "request/method-${each%%:*}"
done
# So have wrong parameters, and what only aria2 knows of.
for params in '[]' '[7]' '["0000000000000001"]'; do
  rpc "{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"aria2.tellStatus\", \"params\": $params}"
  same 400 "$program"
done

finding 'an unknown method with parameters by name is -32602'
call '"jsonrpc": "2.0", "id": "a", "params": {}'
same 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}' request/unknown-method
rpc '{"jsonrpc": "2.0", "id": "a", "method": "aria2.getVersion", "params": {}}' # as a method that there is
same 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}'

finding 'values of a batch that are no objects are left out'
rpc '[]'
same 200 '[]' batch/empty
rpc '[1]'
same 200 '[]' batch/one-number
rpc '[1, 2, 3]'
same 200 '[]' batch/three-numbers
rpc '[[{"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]]'
same 200 '[]' batch/inner-array
rpc '[null]'
same 200 '[]' batch/null-value
rpc '[1, {"jsonrpc": "2.0", "id": "a", "method": "conformance.no_such_method"}]'
same 200 "[$program]"

finding 'jsonrpc is not read, nor the type of id'
call '"id": "a", "params": {}'
same 500 '{"jsonrpc": "2.0", "id": "a", "error": {"code": -32602}}' invalid_request/jsonrpc-missing
for each in one:'"1.0"' number:2 longer:'"2.0.0"' null:null; do
  call "\"jsonrpc\": ${each#*:}, \"id\": \"a\""
  same 400 "$program" "invalid_request/jsonrpc-${each%%:*}"
done
call '"JSONRPC": "2.0", "id": "a"'
same 400 "$program" invalid_request/jsonrpc-capitals
rpc '{"jsonrpc": "1.0", "id": 1, "method": "aria2.getVersion"}'
told 200 '"result":.*"version":"1\.36\.0"'
for each in object:'{}' list:'["a"]' boolean:true; do
  call "\"jsonrpc\": \"2.0\", \"id\": ${each#*:}"
  same 400 "{\"jsonrpc\": \"2.0\", \"id\": ${each#*:}, \"error\": {\"code\": 1}}" "invalid_request/id-${each%%:*}"
done

finding 'its reader of JSON takes more than JSON'
while read -r vector text; do
  rpc "$text"
  same 400 '{"jsonrpc": "2.0", "id": 1, "error": {"code": 1}}' "$vector"
done < <(not_json | grep -E '^parse_error/(trailing-comma|two-values|bad-escape|leading-zero) ')

finding 'a number as document is a parse error'
rpc 1
same 500 '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700}}' invalid_request/number
rpc true # what else is JSON and no request has the right code
same 400 "$invalid"
