/**
 * @open-rpc/server-js's HTTP transport on loopback, with the example methods of the specification and their OpenRPC
 * document. Its unhandled rejections would end the process; this file ignores them, so that the other vectors can run.
 *
 *   node server.mjs PORT
 */
import process from "node:process";
import { parseOpenRPCDocument } from "@open-rpc/schema-utils-js";
import openRpc from "@open-rpc/server-js";

const { JSONRPCError, Router, transports } = openRpc;

const number = { type: "number" };
const anything = { name: "result", schema: {} };
const describe = (name, params, more = {}) => ({
  name,
  params: params.map((each) => ({
    name: each,
    required: true,
    schema: number,
  })),
  result: anything,
  ...more,
});

const document = await parseOpenRPCDocument({
  openrpc: "1.2.6",
  info: { title: "Example methods", version: "1" },
  methods: [
    describe("subtract", ["minuend", "subtrahend"]),
    // OpenRPC has no variadic parameters: three, and the library ignores more.
    describe("sum", ["first", "second", "third"]),
    describe("get_data", []),
    describe("update", []),
    describe("notify_hello", []),
    describe("notify_sum", []),
  ],
});

function add(...values) {
  if (!values.every((each) => typeof each === "number")) {
    throw new JSONRPCError("Invalid params", -32602);
  }
  return values.reduce((sum, each) => sum + each, 0);
}

const transport = new transports.HTTPTransport({ middleware: [], port: 0 });
transport.addRouter(
  new Router(document, {
    subtract: (minuend, subtrahend) => minuend - subtrahend,
    sum: add,
    get_data: () => ["hello", 5],
    update: () => null,
    notify_hello: () => null,
    notify_sum: () => null,
  }),
);

process.on("unhandledRejection", () => {});
transport.server.listen(Number(process.argv[2]), "127.0.0.1");
