import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const TESTS = ['**/*.spec.ts', '**/testing/**', 'test/**', 'bench/**', 'scripts/**', '*.config.ts'];

/** Each ban names what to use instead. */
const AMBIENT = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Ask the injected Clock for the time.',
  },
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Ask the injected Clock for the time.',
  },
  {
    selector: "CallExpression[callee.object.name='performance'][callee.property.name='now']",
    message: 'Ask the injected Clock for the time.',
  },
  {
    selector: 'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
    message: 'Sleep on the injected Clock, with a signal that ends the wait.',
  },
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'Take randomness from node:crypto, or have it injected.',
  },
];
const ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Read settings through libs/config.',
};
const FEW_ARGUMENTS = [
  {
    selector:
      ":matches(FunctionDeclaration, ArrowFunctionExpression, MethodDefinition[kind='method'] > FunctionExpression)[params.length>3]",
    message: 'More than three arguments travel in an object.',
  },
  {
    selector: "MethodDefinition[kind='constructor'] > FunctionExpression[params.length>6]",
    message: 'A class with more than six needs is two classes.',
  },
];
const EXPORT_ALL = { selector: 'ExportAllDeclaration', message: 'Name what the lib exports.' };

const HTTP_NAMES =
  'Controller Get Post Put Patch Delete Head Options All Body Param Query Headers Req Res HttpException HttpStatus BadRequestException UnauthorizedException ForbiddenException NotFoundException ConflictException ServiceUnavailableException'.split(
    ' ',
  );

export default defineConfig(
  { ignores: ['dist/', 'node_modules/', '.data/'] },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js', '.dependency-cruiser.js', 'bin/flotilla.js'] },
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-unnecessary-condition': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'] }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      'no-restricted-syntax': ['error', ...AMBIENT, ...FEW_ARGUMENTS, ENVIRONMENT, EXPORT_ALL],
    },
  },
  { files: ['libs/clock/**'], rules: { 'no-restricted-syntax': ['error', ...FEW_ARGUMENTS, ENVIRONMENT, EXPORT_ALL] } },
  { files: ['libs/config/**'], rules: { 'no-restricted-syntax': ['error', ...AMBIENT, ...FEW_ARGUMENTS, EXPORT_ALL] } },
  {
    files: ['libs/**'],
    ignores: ['libs/http/**', ...TESTS],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: '@nestjs/common', importNames: HTTP_NAMES, message: 'HTTP belongs to libs/http and the apps.' },
            { name: 'fastify', message: 'HTTP belongs to libs/http and the apps.' },
            { name: '@nestjs/platform-fastify', message: 'HTTP belongs to libs/http and the apps.' },
            { name: '@nestjs/swagger', message: 'HTTP belongs to libs/http and the apps.' },
          ],
        },
      ],
    },
  },
  {
    files: TESTS,
    rules: {
      'no-restricted-syntax': ['error', ...AMBIENT, EXPORT_ALL],
      'max-lines-per-function': 'off',
      '@typescript-eslint/explicit-module-boundary-types': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['*.js', '.*.js', 'bin/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
);
