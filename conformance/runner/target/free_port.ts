/**
 * Chooses a free port for a server that is started for one run, so that simultaneous runs do not collide
 * (`FORMAT.md` section 9).
 *
 * @module
 */
import { createServer } from "node:net";
import type { TargetDescription } from "./target_description.ts";

const TEMPLATE = "{{port}}";

/** Replaces every `{{port}}` of a description by one free port. */
export async function fillPort(description: TargetDescription): Promise<TargetDescription> {
  const text = JSON.stringify(description);
  if (!text.includes(TEMPLATE)) return description;
  return JSON.parse(text.replaceAll(TEMPLATE, String(await findFreePort())));
}

function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
