const keyForm = /^[A-Za-z0-9_-]{22,171}$/

/**
 * Returns whether a string could be an API key: 16 to 128 bytes in base64url without padding. Anything
 * else is rejected without a read of storage. The file has no imports because the core runs without Node.
 */
export function isKeyText(text: string): boolean {
  return keyForm.test(text)
}
