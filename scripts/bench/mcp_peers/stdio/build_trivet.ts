/**
 * Builds Trivet in a temporary folder, as it is published: from sources the start is slower, because Node strips the types.
 *
 * @module
 */
import { pathToFileURL } from "node:url";
import { buildPackage } from "../../../../examples/test_package.ts";

export interface Build {
  /** The URL of the folder, with a slash at the end. */
  readonly url: string;
  readonly dist: string;
  /** For files that need the build. */
  readonly folder: string;
  remove(): void;
}

/** Builds Trivet, or returns why it cannot be built. The caller must call `remove`. */
export function buildTrivet(): Build | { readonly failure: string } {
  try {
    const { dist, folder, remove } = buildPackage();
    return { url: pathToFileURL(dist).href + "/", dist, folder, remove };
  } catch (error) {
    return { failure: (error as Error).message };
  }
}
