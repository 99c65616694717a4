/**
 * The English texts of the pages about factors. `{name}` stands for a value that the page inserts.
 *
 * @module
 */

export const TEXTS = {
  factorStepTitle: "Confirm that it is you",
  factorStepLead: "Second step for {user}.",
  factorCodeTotp: "Code from your authenticator app",
  factorCodeRecovery: "Recovery code",
  factorRecoveryHint: "No access to your app? Enter one of your recovery codes instead.",
  factorContinue: "Continue",
  factorUsePasskey: "Use a passkey",
  factorOr: "or",
  factorOtherUser: "Sign in as another user",
  factorWrongCode: "This code is wrong, has expired, or was used before.",
  factorTooManyAttempts: "Too many attempts. Try again in {duration}.",
  factorPasskeyFailed: "The passkey could not be verified. Try again.",
  factorNoPasskey: "No passkey was used. Try again.",

  factorsTitle: "Sign-in security",
  factorsLead: "With a second step, a stolen password is not enough to sign in.",
  factorsPasskeys: "Passkeys",
  factorsNoPasskeys:
    "Sign in with your fingerprint, your face or the PIN of your device instead of a password.",
  factorsAddPasskey: "Add a passkey",
  factorsTotp: "Authenticator app",
  factorsNoTotp: "After your password, enter a code that an app on your phone shows.",
  factorsAddTotp: "Set up an app",
  factorsReplaceTotp: "Replace the app",
  factorsTotpOn: "Set up",
  factorsCodes: "Recovery codes",
  factorsCodesLeft: "Left: {count}. Each replaces the second step once.",
  factorsNewCodes: "New codes",
  factorsAdded: "Added {date}",
  factorsUsed: "last used {date}",
  factorsNeverUsed: "not used yet",
  factorsSynced: "synchronized",
  factorsName: "Name",
  factorsRename: "Rename",
  factorsRemove: "Remove",
  factorsRemoveNamed: "Remove {name}",
  factorsLastWay:
    "This passkey is your only way to sign in. Add another passkey or link an account at a provider first.",
  factorsBack: "Back to your account",

  totpTitle: "Set up an authenticator app",
  totpScan: "Scan this code with your authenticator app.",
  totpQr: "QR code for your authenticator app",
  totpSecret: "Or enter this key in the app:",
  totpCode: "Code that the app shows",
  totpConfirm: "Confirm",
  totpExpired: "This took too long. Scan the new code, and remove the old entry from your app.",
  factorCancel: "Cancel",

  passkeyTitle: "Add a passkey",
  passkeyLead:
    "Your device asks for your fingerprint, your face or its PIN. Nothing of that leaves the device.",
  passkeyName: "Name, such as the device",
  passkeyCreate: "Create the passkey",
  passkeyNeedsScript:
    "Your browser cannot create a passkey here. It needs JavaScript and support for passkeys.",
  passkeyTooMany: "You have the most passkeys possible, or this passkey already. Remove one first.",

  codesTitle: "Your recovery codes",
  codesLead:
    "Keep these codes in a safe place. Each replaces the second step once, such as when you lose your phone. They are not shown again.",
  codesKept: "I have kept them",
};

/** The texts of the pages about factors, by key. */
export type FactorTexts = Readonly<Record<keyof typeof TEXTS, string>>;
