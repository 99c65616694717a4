/**
 * A proxy in front of a server that does one thing wrong. Only tests import this.
 *
 * @module
 */
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";

/** What it does wrong. */
export type ProxyFault =
  | "buffers"
  | "closes"
  | "own host"
  | "limits bodies"
  | "wrong date"
  | "hides well-known"
  | "hides resource"
  | "not ready";

export interface FaultyProxy {
  readonly url: string;
  fault: ProxyFault | undefined;
  /** Where requests go. */
  target: string;
  close(): Promise<void>;
}

const MB = 1024 * 1024;

/** Listens on a free port. */
export async function startFaultyProxy(): Promise<FaultyProxy> {
  const server = createServer((request, response) => {
    const { fault } = proxy;
    const { headers, method, url = "/" } = request;
    const answer = (status: number) => response.writeHead(status, { "content-length": 0 }).end();
    if (fault === "hides well-known" && url.startsWith("/.well-known/oauth-authorization-server")) {
      return answer(404);
    }
    if (fault === "hides resource" && url.startsWith("/.well-known/oauth-protected-resource")) {
      return answer(404);
    }
    if (fault === "not ready" && url === "/readyz") return answer(503);
    if (fault === "limits bodies" && Number(headers["content-length"]) > MB) {
      request.resume();
      return answer(413);
    }
    const passed = { ...headers, ...(fault === "own host" && { host: "backend.internal:8080" }) };
    const { hostname, port } = new URL(proxy.target);
    const upstream = send({ hostname, port, method, path: url, headers: passed }, (answered) => {
      const fields = { ...answered.headers };
      if (fault === "wrong date") fields.date = new Date(Date.now() - 120_000).toUTCString();
      if (fault === "closes") fields.connection = "close";
      if (fault !== "buffers") {
        response.writeHead(answered.statusCode!, fields);
        response.flushHeaders();
        return void answered.pipe(response);
      }
      const chunks: Uint8Array[] = [];
      answered.on("data", (chunk) => void chunks.push(chunk));
      answered.on("end", () => {
        response.writeHead(answered.statusCode!, fields);
        for (const chunk of chunks) response.write(chunk);
        response.end();
      });
    });
    response.on("close", () => upstream.destroy());
    upstream.on("error", () => response.destroy());
    request.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fault: undefined,
    target: "",
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return proxy;
}
