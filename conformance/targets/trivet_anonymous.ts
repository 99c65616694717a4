/**
 * Trivet as who knows nothing of it finds it: strangers may call tools, and a wrong token is refused all the same. No target
 * file describes it; the runner looks for itself.
 *
 * @module
 */
import { everything } from "../../fixtures/everything/everything.ts";
import { createTrivet, memoryStore, type Trivet } from "../../src/mod.ts";

const trivet: Trivet = createTrivet({
  issuer: "http://localhost",
  store: memoryStore(),
  mcp: { auth: "optional", definitions: everything(() => trivet.mcp!) },
});

export const base = "http://localhost/mcp";
export const fetch: (request: Request) => Response | Promise<Response> = (request) => trivet.fetch(request);
