/**
 * jayson's own HTTP server, set up as in its README, with the example methods of the specification.
 *
 *   node server.mjs PORT
 */
import process from "node:process";
import jayson from "jayson";

const invalidParams = jayson.Server.errors.INVALID_PARAMS;
const areNumbers = (list) => list.every((each) => typeof each === "number");

/** A method with parameters from `read`. Refuses those for which `read` returns nothing. */
const method = (read, run) =>
  function (params, callback) {
    const values = read(params);
    if (values && areNumbers(values)) callback(null, run(values));
    else callback(this.error(invalidParams));
  };

const server = new jayson.Server({
  subtract: method(
    (params) => Array.isArray(params) ? params.slice(0, 2) : [params?.minuend, params?.subtrahend],
    ([minuend, subtrahend]) => minuend - subtrahend,
  ),
  sum: method(
    (params) => Array.isArray(params) && params,
    (list) => list.reduce((sum, each) => sum + each, 0),
  ),
  get_data: (_params, callback) => callback(null, ["hello", 5]),
  update: (_params, callback) => callback(null, null),
  notify_hello: (_params, callback) => callback(null, null),
  notify_sum: (_params, callback) => callback(null, null),
});

server.http().listen(Number(process.argv[2]), "127.0.0.1");
