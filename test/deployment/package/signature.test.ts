import { createPublicKey, createSecretKey, generateKeyPairSync, sign } from 'node:crypto'
import { expect, test } from 'vitest'
import { PackageError } from '../../../src/deployment/package/package-error.ts'
import { readPackage } from '../../../src/deployment/package/read-package.ts'
import { manifestSigner, manifestVerifier } from '../../../src/deployment/package/signature.ts'
import { writePackage } from '../../../src/deployment/package/write-package.ts'
import { bytesOf, changeManifest, tampered } from './archives.ts'
import { jobOf } from './release.ts'

const own = generateKeyPairSync('ed25519')
const other = generateKeyPairSync('ed25519')
const pem = {
  secret: own.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  open: own.publicKey.export({ type: 'spki', format: 'pem' }) as string,
}
const signed = await writePackage(jobOf(), { sign: manifestSigner(own.privateKey) })
const unsigned = await writePackage(jobOf())

test('a signed package is verified with the key as text and as an object, among others', () => {
  for (const key of [pem.open, own.publicKey]) {
    expect(readPackage(signed, { trust: [other.publicKey, key] }).signature).toBe('verified')
  }
})

test('a key as text signs the same bytes', async () => {
  const again = await writePackage(jobOf(), { sign: manifestSigner(pem.secret) })
  expect(Buffer.compare(again, signed)).toBe(0)
})

test('where no key is trusted a signature is not looked at', () => {
  expect(readPackage(signed).signature).toBe('unchecked')
  expect(readPackage(unsigned).signature).toBe('absent')
})

test('where keys are trusted, a missing signature and the signature of another key are rejected', () => {
  const trust = [own.publicKey]
  expect(() => readPackage(unsigned, { trust })).toThrow('The package is not signed.')
  expect(() => readPackage(signed, { trust: [other.publicKey] })).toThrow(
    'manifest.sig is not a signature by a trusted key.',
  )
})

test('a manifest that was changed after it was signed is rejected', () => {
  const changed = tampered(signed, (files) =>
    changeManifest(files, (manifest) => ({ ...manifest, name: 'Other' })),
  )
  expect(() => readPackage(changed, { trust: [own.publicKey] })).toThrow('manifest.sig')
  expect(readPackage(changed).manifest.name).toBe('Other')
})

test('a file that was changed is rejected in spite of the signature', () => {
  const changed = tampered(signed, (files) => files.set('definitions.json', bytesOf('{}')))
  expect(() => readPackage(changed, { trust: [own.publicKey] })).toThrow(PackageError)
})

test.each<readonly [string, (text: string) => string]>([
  ['without its line break', (text) => text.trim()],
  ['with another line break', (text) => `${text}\n`],
  ['without padding', (text) => text.replace('==', '')],
  ['in the letters of URLs', (text) => text.replace('==', '--')],
  ['cut', (text) => text.slice(0, 40)],
  ['empty', () => ''],
  ['of another key', () => `${sign(null, bytesOf('x'), other.privateKey).toString('base64')}\n`],
  ['that is very long', () => 'A'.repeat(100_000)],
])('a signature %s is rejected', (_name, change) => {
  const changed = tampered(signed, (files) => {
    const text = Buffer.from(files.get('manifest.sig') as Uint8Array).toString()
    files.set('manifest.sig', bytesOf(change(text)))
  })
  expect(() => readPackage(changed, { trust: [own.publicKey] })).toThrow('manifest.sig')
})

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const locked = own.privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'x',
})

test.each<readonly [string, unknown]>([
  ['an RSA key', rsa.privateKey],
  ['an elliptic one as text', elliptic.privateKey.export({ type: 'pkcs8', format: 'pem' })],
  ['a public one', own.publicKey],
  ['a public one as text', pem.open],
  ['a secret', createSecretKey(Buffer.alloc(32))],
  ['a locked one', locked],
  ['broken text', pem.secret.replace('MC4', '!!!')],
  ['no key', 'x'],
  ['nothing', undefined],
])('signing with %s is rejected at once', (_name, key) => {
  const start = () => manifestSigner(key as never)
  expect(start).toThrow(TypeError)
  expect(start).toThrow(/^sign: must be an Ed25519 private key .*genpkey/)
})

test.each<readonly [string, unknown]>([
  ['an RSA key', [rsa.publicKey]],
  ['an elliptic one as text', [elliptic.publicKey.export({ type: 'spki', format: 'pem' })]],
  ['a private one', [own.privateKey]],
  ['a private one as text', [pem.secret]],
  ['a second key that is none', [own.publicKey, 'x']],
  ['no list', own.publicKey],
  ['an empty list', []],
])('trusting %s is rejected at once', (_name, keys) => {
  expect(() => manifestVerifier(keys as never)).toThrow(TypeError)
  expect(() => readPackage(signed, { trust: keys as never })).toThrow(/^trust(\.\d)?: must be /)
})

test('the message for an invalid key names its kind, and how to make a valid one', () => {
  expect(() => manifestSigner(rsa.privateKey)).toThrow(/ or as a KeyObject; this one is rsa\. Make/)
  expect(() => manifestSigner(createSecretKey(Buffer.alloc(32)))).toThrow('; this one is secret. ')
  expect(() => manifestSigner(own.publicKey)).toThrow(/ or as a KeyObject\. Make one with /)
  expect(() => manifestSigner('x')).toThrow(/ or as a KeyObject\. Make one with /)
  expect(() => manifestVerifier([own.publicKey, rsa.publicKey])).toThrow(
    /^trust\.1: must be an Ed25519 public key, .*; this one is rsa\. Take it from .*createPublicKey\(key\)/,
  )
})

test('empty lines before and after the text of a key are ignored', () => {
  const verify = manifestVerifier([`\n\n${pem.open}\n`])
  const manifest = bytesOf('x')
  expect(verify(manifest, manifestSigner(`\n${pem.secret}\n`)(manifest))).toBe(true)
})

test('no message quotes a key', () => {
  const secret = pem.secret.split('\n')[1] ?? ''
  for (const start of [
    () => manifestSigner(pem.secret.replace('PRIVATE', 'SECRET')),
    () => manifestVerifier([pem.secret]),
  ]) {
    expect(start).toThrow(TypeError)
    expect(start).not.toThrow(secret)
  }
  expect(secret.length).toBeGreaterThan(40)
})

test('a public key can be taken from the private one as the message says', () => {
  const trust = [createPublicKey(own.privateKey)]
  expect(readPackage(signed, { trust }).signature).toBe('verified')
})
