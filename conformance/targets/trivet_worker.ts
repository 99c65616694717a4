/**
 * Trivet as a target in a Worker, which has no files: what it is to serve is in its bundle. `trivet_workerd_node_test.ts`
 * makes the bundle.
 *
 * @module
 */
import type { Store } from "../../src/mod.ts";
import type { FetchHandler } from "../../src/runtime/server.ts";
import { folderOf } from "../../src/skills/test_service.ts";
import { type Described, PAGE_ORIGINS, startWorlds, type TrivetTarget, withControl } from "./trivet_world.ts";

export interface Bundled {
  /** What `trivet.json` says. */
  readonly described: Described;
  /** Files of the folder of skills: path to text. */
  readonly skills: Readonly<Record<string, string>>;
}

/** The handler, whose first request tells where it is and has to be answered before the next is sent. */
export function workerHandler(
  { described, skills }: Bundled,
  openStore?: (now: () => number) => Promise<Store>,
): FetchHandler {
  let serving: TrivetTarget["fetch"] | undefined;
  return {
    async fetch(request, context) {
      serving ??= withControl(
        await startWorlds({
          described,
          folder: folderOf(new Map(Object.entries(skills))),
          base: new URL(request.url).origin,
          allowedOrigins: PAGE_ORIGINS,
          ...(openStore && { openStore }),
        }),
      );
      return await serving(request, context);
    },
  };
}
