/**
 * The English texts of the pages for signing up. `{name}` stands for a value.
 *
 * @module
 */

export const TEXTS = {
  signUpTitle: "Create an account",
  signUpAt: "at {host}",
  signUpName: "Your name (optional)",
  signUpEmail: "E-mail address",
  signUpEmailOptional: "E-mail address (optional)",
  signUpFixedEmail: "The account gets the address {email}.",
  signUpPassword: "Password (at least {count} characters)",
  signUpSubmit: "Create the account",
  signUpQuestionSignIn: "Already have an account?",

  usernameLength: "The user name must have 1 to 128 characters.",
  usernameCharacters: "The user name must not have invisible or unassigned characters.",
  usernameSpaces: "The user name must not have two spaces in a row.",
  usernameScripts: "The user name must not mix Latin, Greek and Cyrillic letters.",
  usernameEmail: "The user name must not contain an @ sign. The e-mail address has its own field.",
  usernameTaken: "This user name is taken. Choose another one.",
  emailInvalid: "Enter a valid e-mail address.",

  signUpSentTitle: "Check your mail",
  signUpSentText: "A mail was sent to {email}. Open the link in it within an hour to create your account.",
  signUpConfirmTitle: "Create this account?",
  signUpConfirmText: "The account {user} with the address {email} will be created.",
  signUpConfirmPassword: "Password that you chose",
  signUpConfirmPasswordWhy:
    "You signed up in another browser. Enter the password that you chose there. If you did not sign up, close this page.",
  signUpWrongPassword: "This is not the password that was chosen.",

  signUpRefusedTitle: "No account was created",
  signUpEndedTitle: "This link is no longer valid",
  signUpEnded:
    "It was already used, has expired, or was revoked. If you have just created your account, sign in.",
  signUpNotInvited: "You need an invitation to create an account here. Contact the operator of this server.",
  signUpNameTaken: "Another account has taken this user name since. Sign up again with another one.",
  signUpEmailTaken: "Another account has this address. Sign in with it, or reset its password.",
  signUpAgain: "Sign up again",
};

export type SignUpTexts = Readonly<Record<keyof typeof TEXTS, string>>;
