/**
 * The version, as package.json has it (workerd reads no JSON modules; `scripts/release/check_packages.ts` compares).
 *
 * @module
 */
export const VERSION = "0.1.0";
