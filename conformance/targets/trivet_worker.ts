/**
 * Trivet as a target in a Worker, which has no file system: its data is bundled. `test_worker.ts` creates the bundle.
 *
 * @module
 */
import type { Store } from "../../src/mod.ts";
import type { FetchHandler } from "../../src/runtime/server.ts";
import { folderOf } from "../../src/skills/test_service.ts";
import {
  ALLOWED_PAGE_ORIGINS,
  type RegisteredData,
  startTarget,
  type TrivetTarget,
  withControl,
} from "./trivet_target.ts";

export interface BundledFiles {
  /** Content of `trivet.json`. */
  readonly registered: RegisteredData;
  /** Files of the skills folder: text by path. */
  readonly skills: Readonly<Record<string, string>>;
}

/** Creates the handler. It takes its origin from the first request; send the next one only after that response. */
export function workerHandler(
  { registered, skills }: BundledFiles,
  openStore?: (now: () => number) => Promise<Store>,
): FetchHandler {
  let serving: TrivetTarget["fetch"] | undefined;
  return {
    async fetch(request, context) {
      serving ??= withControl(
        await startTarget({
          registered,
          folder: folderOf(new Map(Object.entries(skills))),
          base: new URL(request.url).origin,
          allowedOrigins: ALLOWED_PAGE_ORIGINS,
          ...(openStore && { openStore }),
        }),
      );
      return await serving(request, context);
    },
  };
}
