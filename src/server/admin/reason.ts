/** Why somebody does something, for the audit: from the body or the query, else from the header X-Reason. */
export function reasonOf(request: Request, given: string | undefined): string {
  return given ?? request.headers.get('x-reason') ?? ''
}
