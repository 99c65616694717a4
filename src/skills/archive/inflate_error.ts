/**
 * Why deflated data was not unpacked.
 *
 * @module
 */

/** The data is damaged, or does not unpack to the expected length. */
export class InflateError extends Error {
  override readonly name = "InflateError";
  /** `costly`: more dynamic Huffman codes than its size justifies, each of which takes time to build. */
  readonly fault: "damaged" | "longer" | "shorter" | "costly";

  constructor(fault: InflateError["fault"]) {
    super(`The deflated data is ${fault}`);
    this.fault = fault;
  }
}
