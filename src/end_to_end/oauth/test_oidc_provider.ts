/**
 * oidc-provider as a process, as `conformance/targets/oidc-provider` sets it up. Only tests import this.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../conformance/runner/target/free_port.ts";

const ROOT: string = fileURLToPath(new URL("../../../", import.meta.url));
/** Its folder, with `target.json`. */
export const OIDC_PROVIDER: string = join(ROOT, "conformance/targets/oidc-provider");
export const isOidcProviderInstalled: boolean = existsSync(join(OIDC_PROVIDER, "node_modules"));

export async function startOidcProvider(): Promise<{ issuer: string; stop: () => void }> {
  const port = await freePort();
  const node = join(ROOT, "node_modules/.bin/node");
  const child = spawn(node, ["server.mjs", String(port)], { cwd: OIDC_PROVIDER, stdio: "ignore" });
  const issuer = `http://127.0.0.1:${port}`;
  for (let tries = 0;; tries++) {
    const ready = await fetch(`${issuer}/.well-known/oauth-authorization-server`).catch(() => undefined);
    await ready?.body?.cancel();
    if (ready?.ok) return { issuer, stop: () => void child.kill() };
    if (tries === 300) {
      child.kill();
      throw new Error("oidc-provider does not start");
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
