/**
 * Debian's Glewlwyd as a process, as `conformance/targets/glewlwyd` sets it up. Only tests import this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ScriptedProvider } from "./test_browser.ts";

const FOLDER: string = fileURLToPath(new URL("../../../conformance/targets/glewlwyd", import.meta.url));
export const isGlewlwydInstalled: boolean = existsSync("/usr/bin/glewlwyd") &&
  existsSync("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3");
/** A user of `target.json`. */
const ALICE = { username: "alice", password: "wonderland" };

export interface RunningGlewlwyd extends ScriptedProvider {
  readonly issuer: string;
  /** Registers a confidential client. */
  addClient(client: { id: string; secret: string; redirect_uri: string }): Promise<void>;
  stop(): Promise<void>;
}

export async function startGlewlwyd(): Promise<RunningGlewlwyd> {
  const port = await findTwoPorts();
  const child = spawn("/usr/bin/python3", [join(FOLDER, "server.py"), String(port)], { stdio: "ignore" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill();
    await ended;
  };
  const origin = `http://127.0.0.1:${port}`;
  const issuer = `${origin}/api/glwd`;
  for (let tries = 0;; tries++) {
    const ready = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined);
    await ready?.body?.cancel();
    if (ready?.ok) break;
    if (tries === 200) {
      await stop();
      throw new Error("Glewlwyd does not start");
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    issuer,
    origin,
    stop,
    async addClient({ id, secret, redirect_uri }) {
      const signedIn = await fetch(`${origin}/api/auth/`, json({ username: "admin", password: "password" }));
      const cookie = signedIn.headers.getSetCookie().map((field) => field.split(";")[0]).join("; ");
      const client = {
        client_id: id,
        name: id,
        enabled: true,
        confidential: true,
        client_secret: secret,
        redirect_uri: [redirect_uri],
        authorization_type: ["code", "refresh_token"],
        token_endpoint_auth_method: ["client_secret_basic", "client_secret_post"],
        scope: ["read"],
      };
      const added = await fetch(`${origin}/api/client/`, json(client, { cookie }));
      if (!added.ok) throw new Error(`Glewlwyd refuses the client: ${added.status} ${await added.text()}`);
    },
    /** Its page is a script that calls its API: sign in, grant, continue. */
    async act(url, send) {
      const query = new URL(url.searchParams.get("callback_url") ?? url.href).searchParams;
      await send("/api/auth/", json(ALICE));
      const grant = json({ scope: query.get("scope") });
      await send(`/api/auth/grant/${query.get("client_id")}`, { ...grant, method: "PUT" });
      const next = new URL(`${issuer}/auth?${query}`);
      next.searchParams.set("g_continue", "");
      return next;
    },
  };
}

function json(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** A free port whose next one is free, too: the server uses it for its registration. */
async function findTwoPorts(): Promise<number> {
  for (;;) {
    const first = createServer();
    const port = await listen(first, 0);
    const second = createServer();
    const isFree = await listen(second, port! + 1) !== undefined;
    await Promise.all([first, second].map((server) => new Promise((resolve) => server.close(resolve))));
    if (isFree) return port!;
  }
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : undefined);
    });
  });
}
