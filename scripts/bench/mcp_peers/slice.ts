/**
 * A part of a measurement: what a process is asked to call, and how that went.
 *
 * @module
 */

/** To call handlers for a time. */
export interface Slice {
  /** Its place in the list of operations. */
  readonly operation: number;
  readonly tools: number;
  readonly accept: string | undefined;
  readonly newest: string | undefined;
  readonly isFloor: boolean;
  readonly milliseconds: number;
}
/** How a slice went, or why there is none. */
export type Sliced = {
  readonly perSecond: number;
  /** Microseconds of processor time of one call. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly times: readonly number[];
} | { readonly refused: string };
