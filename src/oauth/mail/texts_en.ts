/**
 * The English texts of mails and of the pages for forgotten passwords and e-mail addresses. `{name}` stands for a value.
 *
 * @module
 */

export const TEXTS = {
  forgotTitle: "Reset your password",
  forgotLead: "Enter your user name or your e-mail address. You get a link to choose a new password.",
  forgotIdentifier: "User name or e-mail address",
  forgotSend: "Send the link",
  forgotMissing: "Enter a user name or an e-mail address.",
  resetSentTitle: "Check your mail",
  resetSentText:
    "If there is an account with this name or verified address, a link was sent to its address. The link is valid for 30 minutes, once.",
  resetTitle: "Choose a new password",
  resetSignsOut: "You will be signed out everywhere.",
  resetEndGrants: "Also end the access of all applications to my account",
  resetSubmit: "Change the password",
  resetDoneTitle: "Password changed",
  resetDoneText: "You are signed out everywhere. Sign in with the new password.",

  newPassword: "New password (at least {count} characters)",
  passwordTooShort: "The password must have at least {count} characters.",
  passwordTooLong: "The password is too long.",
  passwordBreached: "This password is known from data breaches. Choose another one.",
  passwordSameAsName: "The password must not be your user name or e-mail address.",
  passwordBusy: "The server is busy. Try again in {duration}.",

  verifyTitle: "Confirm your e-mail address",
  verifyText: "Is {email} the address of the account {user}?",
  verifySubmit: "Confirm the address",
  verifiedTitle: "Address confirmed",
  verifiedText: "{email} is now the address of your account.",

  linkEndedTitle: "This link is no longer valid",
  linkEndedText: "It was already used, has expired, or was replaced by a newer one.",
  linkInUseTitle: "Address in use",
  linkInUseText: "Another account has confirmed this address.",
  linkOther:
    "You have opened another link since. The page now shows what that link is for. Check it and send it again.",
  linkAgain: "Request a new link",

  mailResetSubject: "Reset your password at {product}",
  mailResetText: `Somebody asked to reset the password of your account {user} at {host}.

To choose a new password, open this link within 30 minutes:

{link}

If it was not you, ignore this mail: your password stays as it is.
`,
  mailChangedSubject: "Your password at {product} was changed",
  mailChangedText: `The password of your account {user} at {host} was changed.

If it was not you, contact the operator of {issuer} at once.
`,
  mailVerifySubject: "Confirm your e-mail address at {product}",
  mailVerifyText:
    `To confirm that {email} is the address of your account at {host}, open this link within 24 hours:

{link}

If you have no such account, ignore this mail.
`,
  mailAddressSubject: "Your e-mail address at {product} was changed",
  mailAddressText: `The e-mail address of your account {user} at {host} is now {email}.

If it was not you, contact the operator of {issuer} at once.
`,
  mailRemovedSubject: "Your e-mail address at {product} was removed",
  mailRemovedText: `Your account {user} at {host} has no e-mail address any more.

If it was not you, contact the operator of {issuer} at once.
`,
  mailSignUpSubject: "Confirm your account at {product}",
  mailSignUpText:
    `Somebody created an account with your e-mail address at {host}. To confirm it, open this link within an hour:

{link}

If it was not you, ignore this mail: the account is not created.
`,
  mailInUseSubject: "You already have an account at {product}",
  mailInUseText:
    `Somebody tried to create an account with your e-mail address at {host}. You already have one: {user}.

If it was you, sign in at {issuer}, or reset your password there. If it was not you, ignore this mail.
`,
};

export type MailTexts = Readonly<Record<keyof typeof TEXTS, string>>;
