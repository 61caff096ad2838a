import { CanActivate, ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common'
import { JwtService } from '@nestjs/jwt'
import type { Request } from 'express'

export type AuthenticatedRequest = Request & { bankId: string }

@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly jwt: JwtService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>()
    const [type, token] = request.headers.authorization?.split(' ') ?? []
    if (type !== 'Bearer' || !token) throw new UnauthorizedException()
    try {
      const payload = await this.jwt.verifyAsync<{ bankId: string }>(token)
      request.bankId = payload.bankId
    } catch {
      throw new UnauthorizedException()
    }
    return true
  }
}
