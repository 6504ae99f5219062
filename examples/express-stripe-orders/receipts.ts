/** Stands for a mail service that takes an idempotency key, as most do. */
export async function sendReceipt(to: string, idempotencyKey: string): Promise<{ id: string }> {
  console.log(`receipt to ${to}`)
  return { id: `mail_${idempotencyKey.slice(0, 12)}` }
}
