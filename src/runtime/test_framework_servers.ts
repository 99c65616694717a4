/**
 * Servers that mount `toNodeListener` in `http`, Express and Fastify: as the README does, below a path, and behind the body
 * parsers of the framework. Only tests import this.
 *
 * @module
 */
import express from "express";
import newFastify, { type FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeListener } from "./node_listener.ts";
import type { FetchHandler } from "./server.ts";

/** A server that listens on loopback. */
export interface RunningApp {
  readonly origin: string;
  close(): Promise<unknown>;
}

/** What these tests use of Express, which has no types of its own. */
interface ExpressApp {
  use(...handlers: unknown[]): void;
  post(path: string, ...handlers: unknown[]): void;
  listen(port: number, hostname: string): Server;
}

async function toRunning(server: Server): Promise<RunningApp> {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function toRunningFastify(fastify: FastifyInstance): Promise<RunningApp> {
  const origin = await fastify.listen({ port: 0, host: "127.0.0.1" });
  return { origin, close: () => fastify.close() };
}

/** An app with a route of its own, which reads JSON. */
function newExpressApp(): ExpressApp {
  const app: ExpressApp = express();
  app.post(
    "/own",
    express.json(),
    (request: { body: unknown }, response: { json(body: unknown): void }) => response.json(request.body),
  );
  return app;
}

function newFastifyApp(): FastifyInstance {
  const fastify = newFastify();
  fastify.post("/own", async ({ body }) => body);
  return fastify;
}

// The README's example, as it is written there.

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, example] = /```ts\n([^`]*toNodeListener\(trivet\).*?)```/s.exec(readme)!;

/** Runs the example with an app of each kind, and returns them. */
async function runExample(
  trivet: FetchHandler,
): Promise<{ server: Server; app: ExpressApp; fastify: FastifyInstance }> {
  const app = newExpressApp();
  const fastify = newFastifyApp();
  let server: Server | undefined;
  const http = { createServer: (listener: RequestListener) => server = createServer(listener) };
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction("http", "app", "fastify", "trivet", "toNodeListener", example!)(
    http,
    app,
    fastify,
    trivet,
    toNodeListener,
  );
  return { server: server!, app, fastify };
}

/** Fastify's own parser for JSON, and parsers for forms and uploads as apps add them. */
function addParsers(fastify: FastifyInstance): FastifyInstance {
  const parse = async (_: unknown, body: string | Uint8Array) => body;
  fastify.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, parse);
  fastify.addContentTypeParser("multipart/form-data", { parseAs: "buffer" }, parse);
  return fastify;
}

/** As in the README, with the prefixes of an issuer whose path is `/agents`. */
function mountFastifyBelow(fastify: FastifyInstance, handler: FetchHandler): FastifyInstance {
  for (const prefix of ["/agents", "/.well-known"]) {
    fastify.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", async () => {});
      scope.all("/*", toNodeListener(handler));
    }, { prefix });
  }
  return fastify;
}

const BELOW = ["/agents", "/.well-known"];
const PARSERS = [express.json(), express.urlencoded({ extended: false })];

/** A way to mount the listener. */
export interface FrameworkServer {
  readonly name: string;
  /** The path of the issuer. */
  readonly path: string;
  /** Whether the framework parses JSON, forms and uploads before the listener gets the request. */
  readonly isParsed: boolean;
  /** Whether the parser of the framework refuses an empty body whose media type is JSON. */
  readonly refusesEmptyJson?: boolean;
  /** Whether the app has a route of its own, `POST /own`, that answers with the JSON that it parsed. */
  readonly hasOwnRoute: boolean;
  start(handler: FetchHandler): Promise<RunningApp>;
}

export const FRAMEWORK_SERVERS: readonly FrameworkServer[] = [
  {
    name: "http, as in the README",
    path: "",
    isParsed: false,
    hasOwnRoute: false,
    start: async (handler) => toRunning((await runExample(handler)).server.listen(0, "127.0.0.1")),
  },
  {
    name: "Express, as in the README",
    path: "",
    isParsed: false,
    hasOwnRoute: true,
    start: async (handler) => toRunning((await runExample(handler)).app.listen(0, "127.0.0.1")),
  },
  {
    name: "Express behind express.json() and express.urlencoded()",
    path: "",
    isParsed: true,
    hasOwnRoute: true,
    start(handler) {
      const app = newExpressApp();
      app.use(...PARSERS, toNodeListener(handler));
      return toRunning(app.listen(0, "127.0.0.1"));
    },
  },
  {
    name: "Express below a path",
    path: "/agents",
    isParsed: false,
    hasOwnRoute: true,
    start(handler) {
      const app = newExpressApp();
      app.use(BELOW, toNodeListener(handler));
      return toRunning(app.listen(0, "127.0.0.1"));
    },
  },
  {
    name: "Express below a path, behind express.json() and express.urlencoded()",
    path: "/agents",
    isParsed: true,
    hasOwnRoute: true,
    start(handler) {
      const app = newExpressApp();
      app.use(BELOW, ...PARSERS, toNodeListener(handler));
      return toRunning(app.listen(0, "127.0.0.1"));
    },
  },
  {
    name: "Fastify, as in the README",
    path: "",
    isParsed: false,
    hasOwnRoute: true,
    start: async (handler) => toRunningFastify((await runExample(handler)).fastify),
  },
  {
    name: "Fastify behind its parsers",
    path: "",
    isParsed: true,
    refusesEmptyJson: true,
    hasOwnRoute: true,
    start(handler) {
      const fastify = addParsers(newFastifyApp());
      fastify.all("/*", toNodeListener(handler));
      return toRunningFastify(fastify);
    },
  },
  {
    name: "Fastify below a prefix",
    path: "/agents",
    isParsed: false,
    hasOwnRoute: true,
    start: (handler) => toRunningFastify(mountFastifyBelow(newFastifyApp(), handler)),
  },
  {
    name: "Fastify below a prefix, behind its parsers",
    path: "/agents",
    isParsed: true,
    refusesEmptyJson: true,
    hasOwnRoute: true,
    start(handler) {
      const fastify = addParsers(newFastifyApp());
      for (const prefix of BELOW) {
        fastify.register(async (scope) => scope.all("/*", toNodeListener(handler)), { prefix });
      }
      return toRunningFastify(fastify);
    },
  },
];
