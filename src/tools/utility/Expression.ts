/**
 * Arithmetic expressions: numbers, `+ - * / % **`, unary signs and parentheses. `**` binds to the right and tighter than a
 * sign before it; `%` keeps the sign of what is divided.
 */
import * as Result from "effect/Result"
import * as Decimal from "./Decimal.ts"

export type Reason =
  | Decimal.Trouble
  | "empty"
  | "too_long"
  | "illegal_character"
  | "bad_number"
  | "unbalanced_parentheses"
  | "unsupported_operator"
  | "unexpected_token"
  | "too_deep"

export interface Problem {
  readonly reason: Reason
  /** Offset in the expression, from 0; absent when it is about the whole. */
  readonly at?: number
}

export interface Bounds {
  /** Significant digits of every step. */
  readonly digits: number
  readonly maxLength: number
  readonly maxExponent: number
}

/** Parentheses, signs and powers inside each other, at most. */
export const maxDepth = 64

export const evaluate = (expression: string, bounds: Bounds): Result.Result<Decimal.Decimal, Problem> => {
  if (expression.trim() === "") return fail("empty")
  if (expression.length > bounds.maxLength) return fail("too_long")
  return Result.flatMap(tokenize(expression), (tokens) => {
    const parser: Parser = { tokens, bounds, next: 0, end: expression.length }
    const value = sum(parser, 0)
    if (Result.isFailure(value)) return value
    const rest = peek(parser)
    if (rest !== undefined) return fail(rest.text === ")" ? "unbalanced_parentheses" : "unexpected_token", rest.at)
    return Result.mapError(Decimal.round(value.success, bounds.digits), (reason) => ({ reason }))
  })
}

// ---------------------------------------------------------------------------------------------------------------------
// Tokens

interface Token {
  readonly text: string
  readonly at: number
  readonly isNumber: boolean
}

const fail = (reason: Reason, at?: number): Result.Result<never, Problem> =>
  Result.fail(at === undefined ? { reason } : { reason, at })

const tokenize = (expression: string): Result.Result<ReadonlyArray<Token>, Problem> => {
  const illegal = /[^0-9.()+\-*/%\s]/u.exec(expression)
  if (illegal !== null) return fail("illegal_character", illegal.index)
  const tokens: Array<Token> = []
  for (const { 0: text, index: at } of expression.matchAll(/[0-9.]+|\*+|\/+|[()+\-%]/g)) {
    const isNumber = /[0-9.]/.test(text)
    if (isNumber && !/^(?:\d+\.?\d*|\.\d+)$/.test(text)) return fail("bad_number", at)
    if (text === "//" || (text.length > 2 && !isNumber)) return fail("unsupported_operator", at)
    tokens.push({ text, at, isNumber })
  }
  return Result.succeed(tokens)
}

// ---------------------------------------------------------------------------------------------------------------------
// Grammar, loosest first. Every function that can come back to itself counts the depth.

interface Parser {
  readonly tokens: ReadonlyArray<Token>
  readonly bounds: Bounds
  next: number
  readonly end: number
}

type Value = Result.Result<Decimal.Decimal, Problem>
type Operation = (left: Decimal.Decimal, right: Decimal.Decimal) => Result.Result<Decimal.Decimal, Decimal.Trouble>

const peek = (parser: Parser): Token | undefined => parser.tokens[parser.next]

const take = (parser: Parser, ...texts: ReadonlyArray<string>): Token | undefined => {
  const token = peek(parser)
  if (token === undefined || !texts.includes(token.text)) return undefined
  parser.next += 1
  return token
}

const sum = (parser: Parser, depth: number): Value => chain(parser, depth, product, ["+", "-"])

const product = (parser: Parser, depth: number): Value => chain(parser, depth, signed, ["*", "/", "%"])

const chain = (
  parser: Parser,
  depth: number,
  operand: (parser: Parser, depth: number) => Value,
  operators: ReadonlyArray<string>
): Value => {
  let left = operand(parser, depth)
  while (Result.isSuccess(left)) {
    const operator = take(parser, ...operators)
    if (operator === undefined) break
    left = apply(operator, operation(operator.text, parser.bounds), left.success, operand(parser, depth))
  }
  return left
}

const signed = (parser: Parser, depth: number): Value => {
  if (depth > maxDepth) return fail("too_deep", peek(parser)?.at)
  const sign = take(parser, "+", "-")
  if (sign === undefined) return power(parser, depth)
  const value = signed(parser, depth + 1)
  return sign.text === "-" ? Result.map(value, Decimal.negate) : value
}

const power = (parser: Parser, depth: number): Value => {
  const base = primary(parser, depth)
  const operator = Result.isSuccess(base) ? take(parser, "**") : undefined
  if (Result.isFailure(base) || operator === undefined) return base
  return apply(operator, operation("**", parser.bounds), base.success, signed(parser, depth + 1))
}

const primary = (parser: Parser, depth: number): Value => {
  const token = peek(parser)
  if (token === undefined) return fail("unexpected_token", parser.end)
  if (token.isNumber) {
    parser.next += 1
    return Result.succeed(Decimal.fromDigits(token.text))
  }
  if (token.text !== "(") return fail(token.text === ")" ? closing(parser) : "unexpected_token", token.at)
  parser.next += 1
  const inside = sum(parser, depth + 1)
  if (Result.isFailure(inside)) return inside
  if (take(parser, ")") !== undefined) return inside
  const next = peek(parser)
  return next === undefined ? fail("unbalanced_parentheses", token.at) : fail("unexpected_token", next.at)
}

/** A closing parenthesis where a value should be: too many of them, or nothing inside a pair. */
const closing = (parser: Parser): Reason => {
  const before = parser.tokens.slice(0, parser.next)
  const open = before.filter((token) => token.text === "(").length - before.filter((token) => token.text === ")").length
  return open > 0 ? "unexpected_token" : "unbalanced_parentheses"
}

const apply = (operator: Token, operate: Operation, left: Decimal.Decimal, right: Value): Value =>
  Result.flatMap(right, (value) => Result.mapError(operate(left, value), (reason) => ({ reason, at: operator.at })))

const operation = (operator: string, { digits, maxExponent }: Bounds): Operation => {
  switch (operator) {
    case "+":
      return (left, right) => Decimal.add(left, right, digits)
    case "-":
      return (left, right) => Decimal.subtract(left, right, digits)
    case "*":
      return (left, right) => Decimal.multiply(left, right, digits)
    case "/":
      return (left, right) => Decimal.divide(left, right, digits)
    case "%":
      return (left, right) => Decimal.remainder(left, right, digits)
    default:
      return (left, right) => Decimal.power(left, right, maxExponent, digits)
  }
}
