/**
 * The dialect of MCP that a request speaks.
 *
 * @module
 */

export interface Profile {
  readonly kind: "plain" | "legacy" | "modern";
  readonly revision: string;
}
