/**
 * For servers whose memory is measured.
 *
 * @module
 */

/**
 * Flags of Node with which the young generation has its full size from the start. Otherwise it grows to 134 MB while many
 * sessions or streams are opened, which would count for each of them.
 */
export const FULL_YOUNG_GENERATION: readonly string[] = [
  "--min-semi-space-size=16",
  "--max-semi-space-size=16",
];
