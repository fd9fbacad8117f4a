const keyForm = /^[A-Za-z0-9_-]{22,171}$/

/**
 * Returns whether a string could be an API key: 16 to 128 bytes in base64url without padding. Anything
 * else is rejected without a look-up. It stands alone because the core uses it where there is no Node.
 */
export function isKeyText(text: string): boolean {
  return keyForm.test(text)
}
