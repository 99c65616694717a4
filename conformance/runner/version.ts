/** Version of the kit: that of its `package.json`. The major version is the format of the vectors. */
export const VERSION = "2.0.0";
