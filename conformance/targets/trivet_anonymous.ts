/**
 * Trivet without a target file: the runner discovers it. Anonymous callers may call tools; a wrong token is refused.
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
