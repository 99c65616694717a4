/**
 * The version, as package.json has it (workerd reads no JSON modules; `scripts/check_package.ts` compares).
 *
 * @module
 */
export const VERSION = "0.1.0";
