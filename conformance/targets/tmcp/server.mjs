/**
 * tmcp's HTTP transport on node:http, set up as in its README, without allowed origins.
 *
 *   node server.mjs PORT
 */
import { createServer } from "node:http";
import process from "node:process";
import { createRequestListener } from "@remix-run/node-fetch-server";
import { HttpTransport } from "@tmcp/transport-http";
import { server } from "./definitions.mjs";

const transport = new HttpTransport(server, {
  path: "/mcp",
  allowedOrigins: [],
});

createServer(createRequestListener(async (request) => {
  return await transport.respond(request) ??
    new Response(null, { status: 404 });
})).listen(Number(process.argv[2]), "127.0.0.1");
