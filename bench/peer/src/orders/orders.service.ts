import { ConflictException, Injectable, NotFoundException, ServiceUnavailableException } from '@nestjs/common'
import { InjectDataSource } from '@nestjs/typeorm'
import { DataSource } from 'typeorm'
import { Tariff } from '../catalogue/tariff.entity.js'
import { CreateOrderDto } from './dto/create-order.dto.js'
import { Order, OrderStatus } from './order.entity.js'
import { Profile, ProfileStatus } from './profile.entity.js'

const reservationMinutes = 15

@Injectable()
export class OrdersService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  reserve(bankId: string, dto: CreateOrderDto): Promise<{ order: Order; created: boolean }> {
    const { operatorCode, tariffCode, externalId } = dto
    return this.dataSource.transaction(async manager => {
      const existing = await manager.findOne(Order, {
        where: { bankId, externalId },
        relations: { profile: true, tariff: { operator: true } },
      })
      if (existing) {
        if (existing.tariff.code !== tariffCode || existing.tariff.operator.code !== operatorCode)
          throw new ConflictException('externalId was used with another tariff')
        return { order: existing, created: false }
      }

      const tariff = await manager.findOne(Tariff, {
        where: { code: tariffCode, operator: { code: operatorCode } },
        relations: { operator: true },
      })
      if (!tariff) throw new NotFoundException('There is no such tariff')
      if (!tariff.onSale) throw new ServiceUnavailableException('The tariff is not on sale')

      const profile = await manager.findOne(Profile, {
        where: { tariffId: tariff.id, status: ProfileStatus.Free },
        order: { id: 'ASC' },
        lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' },
      })
      if (!profile) throw new ServiceUnavailableException('No free profiles')

      profile.status = ProfileStatus.Reserved
      await manager.save(profile)

      const order = manager.create(Order, {
        bankId,
        externalId,
        tariff,
        profile,
        status: OrderStatus.Reserved,
        reservedUntil: new Date(Date.now() + reservationMinutes * 60_000),
      })
      await manager.save(order)
      return { order, created: true }
    })
  }

  confirm(bankId: string, orderId: string): Promise<Order> {
    return this.dataSource.transaction(async manager => {
      const order = await manager.findOne(Order, {
        where: { id: orderId, bankId },
        relations: { profile: true, tariff: { operator: true } },
        lock: { mode: 'pessimistic_write', tables: ['orders'] },
      })
      if (!order) throw new NotFoundException('There is no such order')
      if (order.status === OrderStatus.Confirmed) return order
      if (order.status !== OrderStatus.Reserved || order.reservedUntil.getTime() <= Date.now())
        throw new ConflictException('The order is cancelled or expired')

      order.status = OrderStatus.Confirmed
      order.confirmedAt = new Date()
      await manager.save(order)
      order.profile.status = ProfileStatus.Sold
      await manager.save(order.profile)
      return order
    })
  }
}
