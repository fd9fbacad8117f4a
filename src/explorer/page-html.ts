import { escaped, type SignIn, type SignInMethod } from '../pages/sign-in-methods.ts'

/** What the page shows. The URLs are relative to the page. */
export interface PageView {
  readonly documentUrl: string
  /** The folder with the scripts and style sheets of the page. */
  readonly folder: string
  readonly swaggerUi: { readonly script: string; readonly styles: string }
  readonly signIn: SignIn
}

const titles = {
  apiKey: 'API key',
  basic: 'User and password',
  bearer: 'Bearer token',
} satisfies Record<SignInMethod['type'], string>

/** Returns the HTML of the page, without inline scripts and styles. */
export function pageHtml({ documentUrl, folder, swaggerUi, signIn }: PageView): string {
  const { methods, isOpen } = signIn
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>API explorer</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}/${swaggerUi.styles}">
    <link rel="stylesheet" href="${folder}/explorer.css">
    <script defer src="${folder}/${swaggerUi.script}"></script>
    <script type="module" src="${folder}/explorer.js"></script>
  </head>
  <body data-document="${documentUrl}" data-methods="${escaped(JSON.stringify(methods))}" data-open="${isOpen}">
    <div id="session" hidden>
      <button id="sign-in-again" type="button">Sign in</button>
      <button id="sign-out" type="button">Sign out</button>
    </div>
    <main>
      <noscript>This page needs JavaScript.</noscript>
      <form id="sign-in" aria-labelledby="sign-in-title" hidden>
        <h1 id="sign-in-title">Sign in</h1>
        <p>Your credentials stay in this tab until you sign out or close it.</p>
${methods.length > 1 ? choices(methods) : ''}        <fieldset data-method="apiKey">
          <label for="key">API key</label>
          <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required>
        </fieldset>
        <fieldset data-method="basic">
          <label for="user">User</label>
          <input id="user" name="user" autocomplete="username" spellcheck="false" required>
          <label for="password">Password</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required>
        </fieldset>
        <fieldset data-method="bearer">
          <label for="token">Bearer token</label>
          <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required>
        </fieldset>
        <button type="submit">Sign in</button>
      </form>
      <p id="problem" role="alert"></p>
      <div id="description"></div>
    </main>
    <dialog id="confirmation" aria-labelledby="confirmation-title" aria-describedby="warnings">
      <h2 id="confirmation-title">Confirm the warnings?</h2>
      <ul id="warnings"></ul>
      <p>Nothing has changed yet. To confirm, the request is repeated with this header:</p>
      <pre id="confirmation-header"></pre>
      <button id="confirm" type="button">Confirm and repeat</button>
      <button id="cancel" type="button">Cancel</button>
    </dialog>
  </body>
</html>
`
}

function choices(methods: readonly SignInMethod[]): string {
  const inputs = methods.map(
    ({ type }, index) =>
      `<label><input type="radio" name="method" value="${index}"${index === 0 ? ' checked' : ''}> ${titles[type]}</label>`,
  )
  return `        <div role="radiogroup" aria-label="Sign in with">${inputs.join('')}</div>\n`
}
