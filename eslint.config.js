import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

const withTypes = [
  '{src,test,templates,.ci}/**/*.ts',
  ['examples/**/*.ts', '!examples/admin/**'],
  '*.ts',
  'src/console/app/*.tsx',
]

const restrictedSyntax = [
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  {
    selector: 'ImportDeclaration[source.value="zod"]',
    message: 'Import zod/mini: zod is three times as large.',
  },
  {
    selector: 'ImportDeclaration[source.value="zod/mini"] > ImportSpecifier[imported.name="z"]',
    message: 'Write `import * as z`: `z` puts all of zod into the bundle.',
  },
  {
    selector:
      'MemberExpression[object.name="process"][property.name=/^(on|once|addListener|exit)$/]',
    message: 'The process belongs to the host.',
  },
]

export default defineConfig(
  globalIgnores(['**/dist/', '**/node_modules/', 'coverage/']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: withTypes,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/prefer-promise-reject-errors': [
        'error',
        { allowThrowingAny: false, allowThrowingUnknown: true },
      ],
      // tsc reports unused names.
      '@typescript-eslint/no-unused-vars': 'off',
      // It asks for `!`, which no-non-null-assertion forbids.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // Ports are plain objects without `this`: their methods may be taken off.
      '@typescript-eslint/unbound-method': 'off',
      // A port's method is async so that whatever it throws is a rejection.
      '@typescript-eslint/require-await': 'off',
      // A value may be JSON by its type where its field's type says that it is not.
      '@typescript-eslint/no-base-to-string': 'off',
      // Only a type literal can be assigned to a record.
      '@typescript-eslint/consistent-type-definitions': 'off',
      // Handlers return nothing or a promise of nothing.
      '@typescript-eslint/no-invalid-void-type': 'off',
    },
  },
  {
    // The parts of a project refer to each other.
    files: ['templates/**/*.ts'],
    languageOptions: {
      parserOptions: { projectService: false, project: 'templates/tsconfig.json' },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
      ],
    },
  },
  {
    // Without types: the benchmark, the site and the data providers have packages of their own, which may not be installed, and
    // a script has none.
    files: ['{bench,site,examples/admin}/**/*.ts', 'src/explorer/assets/*.js'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    rules: { '@typescript-eslint/consistent-type-definitions': 'off' },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    rules: {
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...restrictedSyntax],
    },
  },
  {
    // Comments and blank lines count.
    files: ['src/**/*.{ts,tsx}'],
    rules: { 'max-lines-per-function': ['error', { max: 60 }] },
  },
  {
    files: ['src/{cache,events,http,protocol,request,security}/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...restrictedSyntax,
        {
          selector: 'ObjectExpression > Property[kind="get"]',
          message: 'V8 creates an object with a getter slowly: use a class.',
        },
        {
          selector:
            'CallExpression[callee.property.name="freeze"] > ObjectExpression > SpreadElement:first-child',
          message:
            'V8 gives each frozen copy a hidden class of its own, which makes every use slow: use Object.assign.',
        },
      ],
    },
  },
  {
    // What must not compile has no type that a rule could look at.
    files: ['test/types/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
    },
  },
)
